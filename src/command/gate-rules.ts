import type { MayAnswer } from '../agent/input.ts';
import type { SharedAgentOptions } from '../agent/agent-options.ts';
import type { GateCondition, GateFile, GateRule } from './gate-schema.ts';

/** What an agent decides by. */
export type GateRules = Pick<SharedAgentOptions, 'toolApproval' | 'mayAnswer'>;

/**
 * Makes the rules of an agent from those of a file. The first rule that matches decides; without one, a person is asked unless the tools of the
 * server were accepted as read-only. `report` is told of names that no tool has, once each.
 */
export function makeGateRules(
  { rules = [], people = {} }: Pick<GateFile, 'rules' | 'people'>,
  report: (problem: string) => void,
): Required<GateRules> {
  const reportUnknown = makeUnknownReport(rules, report);
  return {
    toolApproval: ({ toolCall: { toolName, input }, tools }) => {
      reportUnknown(tools ?? {});
      for (const [index, rule] of rules.entries()) {
        if (!rule.tools.some((pattern) => matchesName(pattern, toolName))) continue;
        const match = matchConditions(rule.when ?? {}, input);
        if (match === 'no' || (match === 'unclear' && rule.approval === 'approved')) continue;
        return applyRule(rule, match, index);
      }
      return undefined;
    },
    mayAnswer: makeMayAnswer(people),
  };
}

type Match = 'yes' | 'no' | 'unclear';

function applyRule(rule: GateRule, match: Match, index: number) {
  switch (rule.approval) {
    case 'approved':
      return 'approved' as const;
    case 'denied':
      if (match === 'yes') return { type: 'denied' as const, reason: rule.reason };
      return {
        type: 'user-approval' as const,
        reason: `Rule ${index + 1} denies some calls of this tool, and an argument that it depends on is missing or of another type.`,
      };
    case 'user-approval': {
      const { tools: _tools, when: _when, approval: type, remember, ...demands } = rule;
      return { ...demands, type, remember: widenRemember(remember) };
    }
  }
}

/* Each call is a thread of its own: an answer that only its thread remembered would decide nothing. */
function widenRemember(remember: Extract<GateRule, { approval: 'user-approval' }>['remember']) {
  if (remember === undefined || remember === false) return undefined;
  return { scope: 'principal' as const, ...(remember === true ? {} : remember) };
}

function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Whether all conditions hold. Unclear: none fails, but an argument is missing or of another type, and the server may read it as something else. */
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
  return values.every((each) => typeof each === typeof value) ? 'no' : 'unclear';
}

function matchNumber(value: unknown, holds: (given: number) => boolean): Match {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'unclear';
  return holds(value) ? 'yes' : 'no';
}

/* A path that begins in a folder may lead out of it. */
function matchStart(value: unknown, start: string): Match {
  if (typeof value !== 'string') return 'unclear';
  const rest = value.startsWith(start) ? value : undefined;
  if (value.split(/[/\\]/).includes('..')) return 'unclear';
  return rest === undefined ? 'no' : 'yes';
}

/** Who may answer: a request that names groups, their people and those to whom they have passed it on; any other, everybody. */
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

/** The groups that the rules name and that have no people. */
export function findUnknownGroups({
  rules = [],
  people = {},
}: Pick<GateFile, 'rules' | 'people'>): { rule: number; group: string }[] {
  return rules.flatMap((rule, index) => {
    if (rule.approval !== 'user-approval') return [];
    const { approvers = [], onExpiry } = rule;
    const later =
      typeof onExpiry === 'object' && onExpiry.type === 'escalate' ? onExpiry.approvers : [];
    return [...approvers, ...later]
      .filter((group) => !Object.hasOwn(people, group))
      .map((group) => ({ rule: index, group }));
  });
}

/** Reports exact names of rules that no tool has. They don't hold what they were written for. */
function makeUnknownReport(
  rules: readonly GateRule[],
  report: (problem: string) => void,
): (tools: object) => void {
  const names = new Set(rules.flatMap(({ tools }) => tools).filter((name) => !name.endsWith('*')));
  return (tools) => {
    for (const name of names) {
      if (Object.hasOwn(tools, name)) continue;
      names.delete(name);
      report(`A rule names ${JSON.stringify(name)}, which is not a tool of this gate.`);
    }
  };
}
