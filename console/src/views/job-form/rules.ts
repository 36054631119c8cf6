/** The fields of a job that most jobs leave at their defaults, as a table: the form draws each by its schema. */

import type { Submission } from "../../api/types";
import type { Schema } from "./schema";

export interface Group {
  title: string;
  fields: Partial<Record<keyof Submission, Schema>>;
}

function field(title: string, type: string, more: Schema = {}): Schema {
  return { title, type, words: true, ...more };
}

function whole(title: string, minimum: number, maximum?: number, more: Schema = {}): Schema {
  return field(title, "integer", { minimum, ...(maximum === undefined ? {} : { maximum }), ...more });
}

function text(title: string, description: string): Schema {
  return field(title, "string", { description });
}

function choice(title: string, values: string[], more: Schema = {}): Schema {
  return field(title, "string", { enum: values, ...more });
}

function object(title: string, properties: Record<string, Schema>, more: Schema = {}): Schema {
  return field(title, "object", { properties, ...more });
}

function list(title: string, items: Schema, more: Schema = {}): Schema {
  return field(title, "array", { items, ...more });
}

const EVENTS = [
  ...["failed", "succeeded", "overrun", "deadline_at_risk", "will_miss", "deadline_missed", "recovered"],
  ...["execution_skipped", "execution_missed", "backlog", "backlog_recovered"],
];
const OUTCOMES = ["succeeded", "execution_skipped", "execution_missed"];

const WEBHOOK = object(
  "Webhook",
  {
    url: text("Address", "https://…"),
    secret: text("Secret", "Signs each request. The API never shows it again"),
    format: choice("Format", ["json", "slack", "teams"], { default: "json" }),
  },
  { required: ["url"] },
);

const DESTINATION: Schema = {
  oneOf: [
    { title: "Notice", const: "notice" },
    { title: "Page", const: "page" },
    object("E-mail", { email: text("Address", "") }, { required: ["email"] }),
    object("SNS topic", { sns: text("ARN", "arn:aws:sns:…") }, { required: ["sns"] }),
    object("Webhook", { webhook: WEBHOOK }, { required: ["webhook"] }),
  ],
};

export const GROUPS: Group[] = [
  {
    title: "Retries and missed instants",
    fields: {
      retry: object("Retries", {
        max_attempts: whole("Attempts", 1, 20, { default: 3 }),
        backoff_seconds: field("First wait", "number", { default: 10, description: "Seconds" }),
        backoff_rate: field("Factor of each further wait", "number", { minimum: 1, maximum: 10, default: 2 }),
        max_backoff_seconds: field("Longest wait", "number", { default: 3600, description: "Seconds" }),
      }),
      misfire: object("Missed instants", {
        policy: choice("After an outage or a pause", ["run_latest", "run_all", "skip"], {
          description: "Which missed instants still run",
        }),
        grace_seconds: whole("Grace", 0, undefined, { default: 300, description: "Seconds late that still run" }),
      }),
    },
  },
  {
    title: "Concurrency",
    fields: {
      concurrency: object(
        "Limit of a key",
        {
          key: text("Key", "Shared by the jobs of the team; {name} is a parameter"),
          limit: whole("At once", 1, 100),
          rate: object(
            "Rate",
            { starts: whole("Starts", 1, 10_000), per_seconds: whole("Per seconds", 1, 86_400) },
            { required: ["starts", "per_seconds"] },
          ),
        },
        { required: ["key"] },
      ),
    },
  },
  {
    title: "Dependencies",
    fields: {
      depends_on: list(
        "Waits for",
        object(
          "Job",
          {
            job: text("Job", "The id of the job"),
            condition: choice("Once it has", ["succeeded", "failed", "finished"], { default: "succeeded" }),
          },
          { required: ["job"] },
        ),
        { description: "Executions of recurring jobs match by data window" },
      ),
      window: choice("Data window", ["hour", "day", "week", "month"], {
        description: "An execution covers the last complete one",
      }),
    },
  },
  {
    title: "Partitions and resources",
    fields: {
      partitions: object(
        "Partitions",
        {
          count: whole("Number", 1, 200),
          by: choice("Or one per", ["day", "hour"], { description: "Of the data window" }),
          of: list("Or one per value", field("Value", "string")),
          at_once: whole("At once", 1, undefined, { description: "Default: all" }),
        },
        { description: "Long lane only" },
      ),
      resources: object(
        "Container size",
        {
          vcpu: field("vCPU", "number"),
          memory_mb: whole("Memory", 1, undefined, { description: "MB" }),
          spot: field("Fargate Spot", "boolean", { description: "Cheaper; AWS may reclaim it" }),
        },
        { description: "Long lane only" },
      ),
      container: object(
        "Own container",
        { image: text("Image", ""), command: list("Command", field("Word", "string")) },
        { required: ["image", "command"], description: "Long lane only, in place of a task" },
      ),
      preemptible: field("Preemptible", "boolean", {
        description: "May free its slots at a checkpoint for a deadline",
      }),
      expected_seconds: whole("Expected run time", 1, 604_800, {
        description: "Seconds, until there are measured runs",
      }),
    },
  },
  {
    title: "Notifications",
    fields: {
      notify: object("Notices", {
        on: list("Of", choice("Event", EVENTS), { default: EVENTS.filter((one) => !OUTCOMES.includes(one)) }),
        to: list("To", DESTINATION, { description: "Default: notice" }),
      }),
      backlog: object(
        "Backlog of a queue job",
        {
          messages: whole("From messages waiting", 1, undefined),
          minutes: whole("From minutes waiting", 1, undefined),
        },
        { description: "Notifies of too many messages, or too old ones" },
      ),
    },
  },
  {
    title: "Owner and duplicates",
    fields: {
      owner: text("Team", "Required if you are in several teams"),
      dedupe_key: text("Deduplication key", "Unique among the live jobs of the team"),
      on_duplicate: choice("If a live job has the key", ["refuse", "return_existing"], { default: "refuse" }),
    },
  },
];

/** The fields that an edit cannot change. */
export const FIXED: string[] = ["owner", "dedupe_key", "on_duplicate"] satisfies (keyof Submission)[];

/** What is set, in short: `Attempts 5, First wait 10`. */
export function summaryOf(schema: Schema, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `${schema.title} ${value.map(shortOf).join(", ")}`;
  if (typeof value !== "object") return `${schema.title} ${shortOf(value)}`;
  return Object.entries(value)
    .map(([name, one]) => summaryOf(schema.properties?.[name] ?? { title: name }, one))
    .filter(Boolean)
    .join(", ");
}

function shortOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value).replaceAll("_", " ");
  const [first] = Object.values(value);
  return shortOf(first);
}
