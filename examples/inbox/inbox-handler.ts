import { type Agent, HoldpointError, type HoldpointErrorCode, type ThreadStore } from 'holdpoint';
import { z } from 'zod';
import { answerSchema } from './board.ts';
import type { ChangeStream } from './change-stream.ts';
import { owns, type Person, personOf } from './identity.ts';
import { boardReader } from './read-board.ts';

const postSchema = z.strictObject({
  threadId: z.string(),
  answer: answerSchema,
  viewer: z.string().optional(),
});

/** Options of `createInboxHandler`. */
export interface InboxOptions {
  agent: Agent;
  store: ThreadStore;
  changes: ChangeStream;
}

/**
 * The inbox as a fetch handler. `GET` lists the requests in all threads of the person, `POST` records an answer, after which a worker
 * resumes the thread, and `GET …/events` streams an event for each change.
 */
export function createInboxHandler({ agent, store, changes }: InboxOptions) {
  const readBoard = boardReader({ agent, store });
  return async function handle(request: Request): Promise<Response> {
    const person = personOf(request);
    if (person === undefined) return refusal(401, 'unauthorized', 'Send your name in x-demo-name.');
    if (request.method === 'POST') return answer(request, person, agent);
    if (request.method !== 'GET') return refusal(405, 'method-not-allowed', 'Use GET or POST.');
    if (new URL(request.url).pathname.endsWith('/events')) return changes.follow(person);
    return Response.json(await readBoard(person), { headers: { 'cache-control': 'no-store' } });
  };
}

async function answer(request: Request, person: Person, agent: Agent): Promise<Response> {
  const parsed = postSchema.safeParse(await request.json().catch(() => undefined));
  if (!parsed.success) return refusal(400, 'invalid-answer', z.prettifyError(parsed.error));
  const { threadId, answer: response, viewer = person.name } = parsed.data;
  if (viewer !== person.name)
    return refusal(403, 'other-viewer', `The page was loaded for ${viewer}; load it again.`);
  if (!owns(person, threadId))
    return refusal(403, 'forbidden', `Thread ${threadId} belongs to another person.`);
  try {
    const thread = await agent.thread(threadId);
    await agent.respond(response, thread, { principal: person, channel: 'inbox' });
    return Response.json({});
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    return refusal(statusOf(error.code), error.code, error.message);
  }
}

function statusOf(code: HoldpointErrorCode): number {
  switch (code) {
    case 'not-allowed':
      return 403;
    case 'unknown-request':
      return 404;
    case 'invalid-answer':
    case 'invalid-input':
      return 400;
    default:
      return 409;
  }
}

function refusal(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}
