/** Problems of the form: refusals of the API, and texts that are not values. Each is shown at its field. */

import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { FieldProblem } from "../../api/problem";

interface FormProblems {
  fields: FieldProblem[];
  /** A text at this field that is no value, or null once it is. */
  report: (field: string, message: string | null) => void;
}

export const FormContext = createContext<FormProblems>({ fields: [], report: () => {} });

/** The problem of a field, or of something within it. */
export function problemWithin(fields: FieldProblem[], field: string): string | undefined {
  return fields.find((one) => one.field === field || one.field.startsWith(`${field}.`))?.message;
}

export function useProblemWithin(field: string): string | undefined {
  return problemWithin(useContext(FormContext).fields, field);
}

/** The problem of exactly this field: those within it are shown by its parts. */
export function useProblem(field: string): string | undefined {
  return useContext(FormContext).fields.find((one) => one.field === field)?.message;
}

export function useReport(field: string, message: string | null): void {
  const { report } = useContext(FormContext);
  useEffect(() => {
    report(field, message);
    return () => report(field, null);
  }, [field, message]);
}

/** Move the focus to the input of a field, or to the closest one around it, also in a closed group. */
export function focusOn(field: string): void {
  const names = field.split(".");
  const ids = names
    .map((_, index) => names.slice(0, names.length - index).join("."))
    .flatMap((id) => [id, `${id}.form`]);
  const input = ids.map((id) => document.getElementById(id)).find(Boolean);
  const group = input?.closest("details");
  if (group) group.open = true;
  input?.scrollIntoView({ block: "center" });
  input?.focus();
}
