import { describe, expect, it } from "vitest";
import { saved, shown } from "./price";

describe("the page", () => {
  it("shows what the discount saves [C3]", () => {
    expect(saved(10000, 9000)).toBe("You save 10.00");
  });

  it("says nothing without a discount [C3]", () => {
    expect(saved(9999, 9999)).toBe("");
  });

  it("shows cents with two digits", () => {
    expect(shown(5)).toBe("0.05");
    expect(shown(-1050)).toBe("-10.50");
  });
});
