import { quoteInertLine } from '../content/inert-text.ts';
import { normalizeName } from '../content/look-alikes.ts';
import { idFields } from '../content/request-text.ts';
import type { ClosedBy } from '../content/user-input.ts';
import { type Requested, listRequesters } from '../content/requesters.ts';
import { toCanonicalText, isEqualJson } from './digest.ts';

/* People are compared in two ways: strictly for what a person gets, loosely for what they must not get twice. See ADR 44. */

/** The agent's option of this name; absent without one. */
export type PrincipalId = ((principal: unknown) => string) | undefined;

/**
 * Identifies a principal where something is given to this person alone, such as a standing approval: by the text of the app's
 * `principalId`, or a string as it is. `undefined` for nobody, and for an object without `principalId`, as two people may have the same
 * `id` or `sub`.
 */
export function identifyStrictly(principal: unknown, principalId: PrincipalId): string | undefined {
  if (principalId === undefined && typeof principal !== 'string') return undefined;
  return findPrincipalName(principal, principalId);
}

/**
 * Identifies a principal where a person must not count twice, or not count: by `findPrincipalName`, as `normalizeName` compares it.
 * `undefined` for nobody.
 */
export function identifyLoosely(principal: unknown, principalId: PrincipalId): string | undefined {
  const name = findPrincipalName(principal, principalId);
  return name === undefined ? undefined : normalizeName(name);
}

/**
 * Finds the name of a principal, as text to record and to show: the result of `principalId`; without it a string as it is, an object's
 * `id`, `subject`, `sub` or `email`, and otherwise the whole JSON. `undefined` for nobody: `null`, without `principalId` a boolean or a
 * number, and where `principalId` throws or gives no text that can be seen.
 */
export function findPrincipalName(
  principal: unknown,
  principalId: PrincipalId,
): string | undefined {
  if (principal === undefined || principal === null) return undefined;
  const name = callPrincipalId(principal, principalId ?? readPrincipalId);
  return typeof name === 'string' && normalizeName(name) !== '' ? name : undefined;
}

/* It was written for the principals of today, and may throw for one that an older version of the app recorded. */
function callPrincipalId(
  principal: unknown,
  principalId: (principal: unknown) => unknown,
): unknown {
  try {
    return principalId(principal);
  } catch {
    return undefined;
  }
}

/* A boolean or a number names nobody: they come from a mistake, such as `isSignedIn && user.email`. */
function readPrincipalId(principal: unknown): string | undefined {
  if (typeof principal === 'string') return principal;
  return typeof principal === 'object'
    ? (readIdField(principal) ?? toCanonicalText(principal))
    : undefined;
}

/** The first of these fields with a value, as text; `undefined` if a principal has none. */
export function readIdField(principal: unknown): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(principal));
  for (const name of idFields) {
    const value = fields.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

/** Checks whether two principals are the same person, strictly: they are equal as JSON, or `identifyStrictly` gives the same text. */
export function isSamePrincipal(one: unknown, other: unknown, principalId: PrincipalId): boolean {
  if (isEqualJson(one, other)) return true;
  const person = identifyStrictly(one, principalId);
  return person !== undefined && person === identifyStrictly(other, principalId);
}

/** A person who answers, or in whose right another person answers: as today's `principalId` names them, or else as they are recorded. */
export interface Person {
  name: string;
  principal?: unknown;
}

/** Checks whether two people count as one, loosely: they must not count twice, or not count. */
export function isSamePerson(one: Person, other: Person): boolean {
  return normalizeName(one.name) === normalizeName(other.name);
}

/** Says that two people count as one, and what to do if they are two. */
export function explainSamePerson(one: Person, other: Person): string {
  return (
    `${quoteInertLine(one.name)} counts as the same person as ${quoteInertLine(other.name)}. ` +
    'If they are two people, give the agent a principalId that tells them apart'
  );
}

/** Finds the one person for whom something was asked, by `identifyStrictly`; `undefined` unless every requester is that person. */
export function findSoleRequester(
  requested: Requested,
  principalId: PrincipalId,
): string | undefined {
  const people = listRequesters(requested).map((each) => identifyStrictly(each, principalId));
  return people.every((person) => person === people[0]) ? people[0] : undefined;
}

/** Describes the person who ends a request, for the log: with the name that people may be shown. */
export function describeClosedBy(
  { principal, channel }: Pick<ClosedBy, 'principal' | 'channel'>,
  principalId: PrincipalId,
): ClosedBy {
  const person = findPrincipalName(principal, principalId);
  return {
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
    ...(person === undefined ? {} : { person }),
  };
}

/** Checks whether a principal can be distinguished from others: it is not `null`, and not a blank text. */
export function isSomebody(principal: unknown): boolean {
  const isBlank = typeof principal === 'string' && normalizeName(principal) === '';
  return principal !== undefined && principal !== null && !isBlank;
}

/**
 * Finds the reason why a principal that a channel authenticated names nobody: it is no text or a blank one, and no object that
 * `principalId`, or without it an id field, names. Otherwise `undefined`. Quotes no values.
 */
export function whyNobody(principal: unknown, principalId: PrincipalId): string | undefined {
  if (typeof principal === 'string' && normalizeName(principal) === '') return 'it is a blank text';
  if (Array.isArray(principal)) return 'it is a list';
  if (typeof principal !== 'string' && typeof principal !== 'object') {
    return `it is a ${typeof principal}`;
  }
  if (principalId === undefined) {
    if (typeof principal === 'string' || readIdField(principal) !== undefined) return undefined;
    return `it is an object without ${quoteNames(idFields)}, and the agent has no principalId`;
  }
  return findPrincipalName(principal, principalId) === undefined
    ? 'principalId gives no text for it'
    : undefined;
}

function quoteNames(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
