import { type Remember, grantScopes } from '../content/approval-terms.ts';
import type { Grant } from '../content/grant.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { type JsonTypes, pickFieldTypes } from '../json/json-form.ts';
import { isEqualJson } from './digest.ts';

/** The input of a call, and the types of its parts that JSON doesn't express: a date is another input than its text. */
type TypedInput = Pick<ToolCallRecord, 'input' | 'inputTypes'>;

/** Checks whether a standing approval covers an input. See ADR 35. */
export function coversInput(
  { match }: Pick<Grant, 'match'>,
  { input, inputTypes = {} }: TypedInput,
): boolean {
  switch (match.type) {
    case 'any':
      return true;
    case 'exact':
      return isEqualJson(match.input, input) && isEqualJson(match.types ?? {}, inputTypes);
    case 'fields': {
      const fields = mapInputFields(input);
      const names = Object.keys(match.fields);
      return (
        names.every(
          (name) => fields.has(name) && isEqualJson(match.fields[name], fields.get(name)),
        ) && isEqualJson(match.types ?? {}, pickFieldTypes(inputTypes, names))
      );
    }
  }
}

/** The match of a grant for a call with this input; `undefined` if the input lacks a field that must be equal. */
export function matchFor(
  match: Remember['match'],
  { input, inputTypes = {} }: TypedInput,
): Grant['match'] | undefined {
  if (match === 'any') return { type: 'any' };
  if (match === 'exact') return { type: 'exact', input, ...toMatchTypes(inputTypes) };
  const fields = mapInputFields(input);
  if (match.some((name) => !fields.has(name) || name === '__proto__')) return undefined;
  const entries = match.map((name): [string, unknown] => [name, fields.get(name)]);
  const types = toMatchTypes(pickFieldTypes(inputTypes, match));
  return { type: 'fields', fields: Object.fromEntries(entries), ...types };
}

function toMatchTypes(types: JsonTypes): { types?: Record<string, string> } {
  return Object.keys(types).length === 0 ? {} : { types: { ...types } };
}

/** Finds the reason why an answer may not ask for a standing approval as wide as this; `undefined` if it may. */
export function whyTooWide(asked: Remember, allowed: Remember | undefined): string | undefined {
  if (allowed === undefined) return "its rule doesn't allow it";
  if (grantScopes.indexOf(asked.scope) > grantScopes.indexOf(allowed.scope)) {
    return `its rule allows the scope '${allowed.scope}' at most`;
  }
  if (!isNarrower(asked.match, allowed.match)) {
    return `its rule allows the match ${JSON.stringify(allowed.match)} at most`;
  }
  const { expiresAfterMs = Infinity, uses = Infinity } = allowed;
  if ((asked.expiresAfterMs ?? Infinity) > expiresAfterMs) {
    return `its rule allows ${expiresAfterMs} ms at most`;
  }
  return (asked.uses ?? Infinity) > uses ? `its rule allows ${uses} uses at most` : undefined;
}

function isNarrower(asked: Remember['match'], allowed: Remember['match']): boolean {
  if (asked === 'exact' || allowed === 'any') return true;
  if (asked === 'any' || allowed === 'exact') return false;
  return allowed.every((name) => asked.includes(name));
}

function mapInputFields(input: unknown): ReadonlyMap<string, unknown> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return new Map(isObject ? Object.entries(input) : []);
}
