import { type Agent, type AgentOptions, createAgent, type ThreadStore } from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { benchModel } from '../bench-model.ts';

const mine = ['ada', 'finance', 'legal'];

/** The time of the rows, in which nothing has expired. */
const now = (): number => 10;

const mayAnswer: AgentOptions['mayAnswer'] = ({ request }) =>
  request.type === 'question-request' ||
  request.approvers === undefined ||
  request.approvers.some((name) => mine.includes(name));

/** An agent that asks Ada. */
export function openAgent(store: ThreadStore, at: number): Agent {
  return createAgent({ model: benchModel(1), store, mayAnswer, now: () => at });
}

/** An inbox over the rows of `fillInbox`, for Ada, who is in two teams. */
export function openInbox(store: ThreadStore): (request: Request) => Promise<Response> {
  return createInboxHandler({
    store,
    now,
    mayAnswer,
    authorize: () => ({ principal: 'ada', as: mine }),
  });
}

/** Asks an inbox for something below its path, which must be there. */
export async function askInbox(
  handler: (request: Request) => Promise<Response>,
  path: string,
): Promise<Response> {
  const response = await handler(new Request(`http://localhost/inbox${path}`));
  if (response.status !== 200) throw new Error(`${path} responded with ${response.status}.`);
  return response;
}
