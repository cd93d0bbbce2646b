import type { AnswerToTool, CallFailure, SendOptions } from '../../../agent/calls.ts';
import { z } from 'zod';
import { isCallLost, lostCallOutcome } from './call-messages.ts';
import { postWithRetries } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';
import { parseAllowedUrl } from '../url-checks.ts';

const replyToSchema = z.strictObject({ responseUrl: z.string() });

/* 0.5, 1, 2, 4, 8 and 16 seconds between seven attempts: half a minute in all. */
const retries = 6;
const firstPauseMs = 500;

/**
 * Posts a person's answer to the `response_url` of the question. Retries when the server failed or can't be reached, not when it refused.
 * What a dismissal means is part of the question, as the person saw it.
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
  if (selected === -1) {
    throw new Error(
      `The answer to question ${request.requestId} does not pick one of the choices.`,
    );
  }
  const { responseUrl } = replyToSchema.parse(replyTo);
  const url = parseAllowedUrl(responseUrl, server.origins);
  if (url === undefined) {
    throw new Error(
      `The answer to question ${request.requestId} can't be sent: add the origin of its response_url to allowedOrigins.`,
    );
  }
  const body = { id: call.toolCallId, selected };
  const post = { id: request.requestId, url, body, signal };
  try {
    await postWithRetries(server, post, {
      retries,
      pauseMs: (retried) => firstPauseMs * 2 ** retried,
      wait: server.wait,
      beforeRetry: refresh,
      fault: 'The tool server did not accept the answer',
    });
    return undefined;
  } catch (error) {
    /* A restarted server knows neither the question nor the call. */
    const { threadId } = request;
    const { toolName, toolCallId } = call;
    if (await isCallLost(server, { threadId, toolName, toolCallId }, signal))
      return lostCallOutcome;
    throw error;
  }
}
