import { type AgentOptions, type MayAnswer, memoryStore, type ToolApprovalStatus } from 'holdpoint';
import { book, memoryWorld } from '../support/travel-world.ts';
import type { ScriptedCall } from '../support/script.ts';

/** Who is in which team. */
export type Teams = Record<string, string[]>;

/** A `mayAnswer` that resolves names and teams, as an app would. */
export function answeredBy(teams: Teams): MayAnswer {
  return ({ principal, request }) =>
    request.type !== 'approval-request' ||
    request.approvers === undefined ||
    request.approvers.some(
      (name) => name === principal || teams[name]?.includes(String(principal)) === true,
    );
}

/** An office in which ann asks for flights, and owners and managers approve them. */
export function office(
  toolApproval: AgentOptions['toolApproval'],
  steps: ScriptedCall[][] = [[book('c1', 'Paris')]],
) {
  const teams: Teams = { owners: ['ann', 'bob', 'cy'], managers: ['dee'] };
  const clock = { now: 1_000_000 };
  const world = memoryWorld([...steps.map((calls) => ({ calls })), { text: 'Done.' }]);
  const store = memoryStore();
  const agent = world.agent({
    name: 'office',
    toolApproval,
    mayAnswer: answeredBy(teams),
    now: () => clock.now,
    store,
  });
  return { ...world, teams, clock, store, agent };
}

/** The office, after ann's message has led to a first request. */
export async function askedInOffice(
  status: ToolApprovalStatus | (() => ToolApprovalStatus),
  steps?: ScriptedCall[][],
) {
  const at = office({ book: status }, steps);
  const thread = await at.agent.thread('t');
  const { approvalRequests } = await at.agent.run('Book', thread, { principal: 'ann' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { ...at, thread, request };
}
