import { z } from 'zod';
import type { AnswerToTool, CallFailure, SendOptions } from '../../../agent/calls/answer-receiver.ts';
import { isLost, lost } from './query-call-status.ts';
import { postUntilTaken } from '../post-with-retries.ts';
import type { RemoteServer } from '../remote-server.ts';
import { allowedUrl } from '../url-checks.ts';

const replyToSchema = z.strictObject({ responseUrl: z.string() });

/* Half a minute in all: 0.5, 1, 2, 4, 8 and 16 seconds between seven tries. */
const retries = 6;
const firstPauseMs = 500;

/**
 * Posts what a person picked to the `response_url` of the tool that asked, again where the server failed or was out of reach, and never
 * where it said no. What a dismissal means stands in the question, as the person saw it.
 */
export async function sendAnswer(
  server: RemoteServer,
  { response, request, replyTo, call }: AnswerToTool,
  { signal, refresh }: SendOptions,
): Promise<CallFailure | undefined> {
  const answers = response.status === 'answered' ? response.answers : request.dismissAnswer;
  if (answers === undefined) {
    return { status: 'failed', error: 'Not done: the user closed the question without an answer.' };
  }
  const [field] = request.fields;
  const [picked] = answers[0]?.optionIds ?? [];
  const selected = field?.options.findIndex(({ id }) => id === picked) ?? -1;
  if (selected === -1) throw new Error('The answer picks none of the choices.');
  const { responseUrl } = replyToSchema.parse(replyTo);
  const url = allowedUrl(responseUrl, server.origins);
  if (url === undefined) throw new Error('Answers may not be sent to this response_url.');
  const body = { id: call.toolCallId, selected };
  const post = { id: request.requestId, url, body, signal };
  try {
    await postUntilTaken(server, post, {
      retries,
      pauseMs: (retried) => firstPauseMs * 2 ** retried,
      wait: server.wait,
      beforeRetry: refresh,
      fault: 'The tool server did not take the answer',
    });
    return undefined;
  } catch (error) {
    /* A server that was started again knows neither the question nor the call. */
    const { threadId } = request;
    if (await isLost(server, { threadId, toolCallId: call.toolCallId }, signal)) return lost;
    throw error;
  }
}
