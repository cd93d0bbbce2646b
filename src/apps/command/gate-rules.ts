import { type MayAnswer, type SharedAgentOptions, nameTools } from '../../agent.ts';
import { findNextRequest, readDeadlineDemand } from '../../content/deadline-action.ts';
import type { GateCondition, GateFile, GateRule } from './gate-schema.ts';

/** The rules of an agent. */
export type GateRules = Pick<SharedAgentOptions, 'toolApproval' | 'mayAnswer'>;

/** A rule that is one function for all tools. */
export type RuleForAll = Extract<
  NonNullable<GateRules['toolApproval']>,
  (...given: never) => unknown
>;

/**
 * Makes the rules of an agent from those of a file. The first rule that matches decides; without one, a person is asked unless the tools of
 * the server were accepted as read-only. A rule that may match lets nothing run: it asks, unless another one asks or denies after it. The
 * gate is notified of the tools that the rules name.
 */
export function makeGateRules({
  rules = [],
  people = {},
}: Pick<GateFile, 'rules' | 'people'>): Required<GateRules> {
  const toolApproval: RuleForAll = ({ toolCall: { toolName, input } }) => {
    const asking: Asking[] = [];
    for (const [index, rule] of rules.entries()) {
      if (!rule.tools.some((pattern) => matchesName(pattern, toolName))) continue;
      const match = matchConditions(rule.when ?? {}, input);
      if (match === 'yes' && rule.approval === 'denied') return makeDenial(rule.reason);
      if (match !== 'no' && rule.approval !== 'approved')
        asking.push({ number: index + 1, ...applyAsking(rule, match, index + 1) });
      if (match !== 'yes') continue;
      if (asking.length === 0) return 'approved';
      break;
    }
    return pickAsking(asking);
  };
  const names = new Set(rules.flatMap(({ tools }) => tools));
  const named = [...names].map((name) => ({
    name,
    fits: (tool: string) => matchesName(name, tool),
  }));
  return { toolApproval: nameTools(toolApproval, named), mayAnswer: makeMayAnswer(people) };
}

type Match = 'yes' | 'no' | 'unclear';

const unclear = 'is missing, of another type, or a path that is not written plainly';

type AskingRule = Exclude<GateRule, { approval: 'approved' }>;

/** The terms of a rule that asks, or may deny. If it is not clear whether the rule applies to a call, its answer is not remembered. */
function applyAsking(rule: AskingRule, match: Match, number: number) {
  const type = 'user-approval' as const;
  if (rule.approval === 'denied') {
    return {
      type,
      reason: `Rule ${number} denies some calls of this tool, and an argument that it depends on ${unclear}.`,
    };
  }
  const { tools: _tools, when: _when, approval: _approval, remember, ...demands } = rule;
  return { ...demands, type, remember: match === 'yes' ? widenRemember(remember) : undefined };
}

type Asking = ReturnType<typeof applyAsking> & { number: number };

/* Of two rules that may apply, one may demand less than the other. */
function pickAsking([one, ...others]: readonly Asking[]) {
  if (one === undefined) return undefined;
  const { number, ...asked } = one;
  if (others.length === 0) return asked;
  const numbers = [number, ...others.map((other) => other.number)].join(' and ');
  return makeDenial(
    `Rules ${numbers} may both apply, because an argument that they depend on ${unclear}. Call again with a plain one.`,
  );
}

const makeDenial = (reason: string | undefined) => ({ type: 'denied' as const, reason });

/* Each call has its own thread: an answer that only its thread remembered would decide nothing. */
function widenRemember(remember: Extract<GateRule, { approval: 'user-approval' }>['remember']) {
  if (remember === undefined || remember === false) return undefined;
  return { scope: 'principal' as const, ...(remember === true ? {} : remember) };
}

function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/**
 * Checks whether all conditions hold. Unclear: none fails, but an argument is missing or of another type, and the server may read it as
 * something else.
 */
function matchConditions(when: Readonly<Record<string, GateCondition>>, input: unknown): Match {
  const found = Object.entries(when).map(([name, condition]) =>
    matchCondition(condition, readArgument(input, name)),
  );
  if (found.includes('no')) return 'no';
  return found.includes('unclear') ? 'unclear' : 'yes';
}

/* Own properties only: an argument may be called `constructor`. */
function readArgument(input: unknown, name: string): unknown {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, name)) return undefined;
  return Reflect.get(input, name);
}

function matchCondition(condition: GateCondition, value: unknown): Match {
  const { equals, oneOf, atMost, atLeast, startsWith } = condition;
  const found: Match[] = [];
  if (equals !== undefined) found.push(matchValues([equals], value));
  if (oneOf !== undefined) found.push(matchValues(oneOf, value));
  if (atMost !== undefined) found.push(matchNumber(value, (given) => given <= atMost));
  if (atLeast !== undefined) found.push(matchNumber(value, (given) => given >= atLeast));
  if (startsWith !== undefined) found.push(matchStart(value, startsWith));
  if (found.includes('no')) return 'no';
  return found.includes('unclear') ? 'unclear' : 'yes';
}

function matchValues(values: readonly unknown[], value: unknown): Match {
  if (values.includes(value)) return 'yes';
  /* The type of null is that of objects. */
  return values.every((each) => each !== null && typeof each === typeof value) ? 'no' : 'unclear';
}

function matchNumber(value: unknown, holds: (given: number) => boolean): Match {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'unclear';
  return holds(value) ? 'yes' : 'no';
}

/* A path that begins in a folder may lead out of it, and the same path may be written in other ways. */
function matchStart(value: unknown, start: string): Match {
  if (typeof value !== 'string') return 'unclear';
  const read = readPath(value);
  if (read.split(/[/\\]/).some((segment) => /^\.\.(?!\w)/.test(segment))) return 'unclear';
  if (value.startsWith(start)) return 'yes';
  const shortened = shortenPath(readPath(start));
  return shortened !== '' && shortenPath(read).startsWith(shortened) ? 'unclear' : 'no';
}

/** A path as a server may read it: without escapes, also those that were escaped again, and without characters that some servers ignore. */
function readPath(text: string): string {
  return text
    .replaceAll(/%(?:25)*([2-7][0-9a-f])/gi, (_all, code: string) =>
      String.fromCodePoint(Number.parseInt(code, 16)),
    )
    .normalize('NFKC')
    .replaceAll(/[\p{C}\s]|%(?:25)*[01][0-9a-f]/giu, '');
}

/** A path without segments that lead nowhere. */
function shortenPath(path: string): string {
  const segments = path.split(/[/\\]/);
  const isKept = (segment: string, index: number): boolean =>
    segment !== '.' && (segment !== '' || index === 0 || index === segments.length - 1);
  return segments.filter(isKept).join('/');
}

/**
 * Makes the `mayAnswer` of a gate. A request with groups is answered by their people and those to whom they have passed it on; any other by
 * everybody.
 */
export function makeMayAnswer(people: Readonly<Record<string, readonly string[]>>): MayAnswer {
  const isOneOf = (name: string, principal: unknown): boolean =>
    Object.hasOwn(people, name)
      ? people[name]?.some((each) => each === principal) === true
      : name === principal;
  return ({ principal, request }) =>
    request.type === 'question-request' ||
    request.approvers === undefined ||
    request.approvers.some((name) => isOneOf(name, principal));
}

/** Finds the first rule of a file that its people can't satisfy, and says why; `undefined` if they can satisfy all. */
export function findUnkeepable({
  rules = [],
  people = {},
}: Pick<GateFile, 'rules' | 'people'>): string | undefined {
  for (const [index, rule] of rules.entries()) {
    if (rule.approval !== 'user-approval') continue;
    const { approvers, onExpiry, quorum = 1 } = rule;
    const first = { approvers, quorum };
    const next = onExpiry && findNextRequest(readDeadlineDemand(onExpiry));
    const asked = next === undefined ? [first] : [first, { ...first, ...next.terms }];
    for (const { approvers: groups = [], quorum: needed } of asked) {
      const unknown = groups.find((group) => !Object.hasOwn(people, group));
      if (unknown !== undefined)
        return `rules[${index}] names the group ${JSON.stringify(unknown)}, which people does not have.`;
      const { size } = new Set(groups.flatMap((group) => people[group] ?? []));
      if (groups.length > 0 && size < needed)
        return `rules[${index}] has the quorum ${needed}, which its groups ${JSON.stringify(groups)} can't reach: people in them: ${size}.`;
    }
  }
  return undefined;
}
