import type { UserApproval } from 'holdpoint';
import { z } from 'zod';

/** Who works at the firm. All of them ask for calls, and decide about them. */
export const people = ['ann', 'ben', 'cleo', 'dora'] as const;
/** Somebody of another firm, whose name is Ann's in other letters. */
export const stranger = 'ANN';
export const teamNames = ['owners', 'managers'] as const;
type TeamName = (typeof teamNames)[number];

export const inputSchema = z.strictObject({
  /** Which call it is, whatever else is edited. */
  ref: z.string(),
  kind: z.string(),
  amount: z.number(),
});
/** The input of a call. */
export type Input = z.infer<typeof inputSchema>;

const soonMs = 400_000;

/** What the rules demand, by tool. */
export const rules = {
  deploy: {
    type: 'user-approval',
    approvers: ['owners'],
    notRequester: true,
    quorum: 2,
    editable: ['amount'],
  },
  move: {
    type: 'user-approval',
    approvers: ['owners', 'managers'],
    quorum: 2,
    editable: ['amount'],
    remember: { scope: 'everyone', match: ['kind'] },
  },
  pay: {
    type: 'user-approval',
    approvers: ['owners'],
    editable: ['amount'],
    remember: { scope: 'everyone', match: ['kind'], uses: 3 },
  },
  order: { type: 'user-approval', approvers: ['managers'] },
  hold: {
    type: 'user-approval',
    approvers: ['managers'],
    expiresAfterMs: soonMs,
    onExpiry: { type: 'escalate', approvers: ['owners'], expiresAfterMs: soonMs },
  },
} satisfies Record<string, UserApproval>;
export const toolNames = ['deploy', 'move', 'pay', 'order', 'hold'] as const;
export type ToolName = (typeof toolNames)[number];

/** What a tool's requests demand; `isEscalated`: of a request that follows an expired one. */
export function demandsOf(toolName: ToolName, isEscalated: boolean) {
  const demands: Exclude<UserApproval, string> = rules[toolName];
  const { approvers = [], quorum = 1, notRequester = false } = demands;
  return { approvers: isEscalated ? ['owners'] : approvers, quorum, notRequester };
}

/** Two names of one person, as far as somebody is to be excluded. */
export function loosely(name: string): string {
  return name.toLowerCase();
}

/** Who is in which team, now. */
export class Teams {
  readonly #members: Record<TeamName, Set<string>> = {
    owners: new Set(['ann', 'ben', 'cleo']),
    managers: new Set(['dora']),
  };

  /** Somebody joins a team, or leaves it. */
  toggle(name: TeamName, person: string): void {
    const members = this.#members[name];
    if (!members.delete(person)) members.add(person);
  }

  /** Whether somebody is one of these people, or in one of these teams. */
  has(person: unknown, approvers: readonly string[]): boolean {
    return (
      teamNames.some(
        (name) => approvers.includes(name) && this.#members[name].has(String(person)),
      ) || approvers.some((name) => name === person)
    );
  }
}
