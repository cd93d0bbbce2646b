import { isObject } from '../json/json-value.ts';

/** A tool that a rule names, or several by a pattern. */
export interface NamedTool {
  name: string;
  fits: (tool: string) => boolean;
}

/* A registered symbol, so that it works across two copies of the package. */
const namedTools: unique symbol = Symbol.for('holdpoint.named-tools');

/** Records the tools for which a rule was written that is one function for all tools. Returns the same function. */
export function nameTools<RULE extends object>(rule: RULE, tools: readonly NamedTool[]): RULE {
  return Object.defineProperty(rule, namedTools, { value: tools });
}

/** The tools for which rules were written: a function for all tools has none, unless they were recorded. */
export function findNamedTools(rules: unknown): readonly NamedTool[] {
  if (typeof rules === 'function') return hasNamed(rules) ? rules[namedTools] : [];
  if (!isObject(rules)) return [];
  return Object.keys(rules).map((name) => ({ name, fits: (tool) => tool === name }));
}

function hasNamed(rule: object): rule is { [namedTools]: readonly NamedTool[] } {
  return namedTools in rule;
}
