import { expect, it } from "vitest";
import { jsonOf } from "./json";

it("writes lists of plain values on one line", () => {
  expect(jsonOf({ seconds: [1, 2], parts: [{ a: 1 }] })).toBe(
    '{\n  "seconds": [1, 2],\n  "parts": [\n    {\n      "a": 1\n    }\n  ]\n}',
  );
});
