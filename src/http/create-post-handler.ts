import type { ZodType } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { refuseUnknown, requireFunctions } from '../content/check-settings.ts';
import { HoldpointError } from '../errors.ts';
import { makeErrorResponse, makeJsonResponse, makeRefusalResponse } from './error-response.ts';
import {
  checkOrigins,
  type OriginOptions,
  type Authorize,
  type Authorized,
  receivePost,
} from './receive-request.ts';

/** A request that was let in. */
interface AuthorizedPost<BODY, RUNTIME_CONTEXT = Record<string, unknown>> {
  /** The request's JSON, parsed by the schema. */
  body: BODY;
  /** The sender, as `authorize` returned it: the options of `agent.respond`, `agent.stop`, `agent.run` … */
  by: Authorized<RUNTIME_CONTEXT> & { channel: string };
  /** Its body has already been read. */
  request: Request;
}

/** The options of `createPostHandler`. */
interface PostHandlerOptions<
  BODY extends { threadId: string },
  RUNTIME_CONTEXT = Record<string, unknown>,
> extends OriginOptions {
  /** The agent that the threads belong to, which identifies principals. Without one, as behind `holdPoint`, an object needs an `id`. */
  agent?: object;
  /**
   * Called with the thread that the body names, before anything else of the body is read. A result without a principal, or `undefined`, is
   * refused with 403; a `Response` is sent unchanged.
   */
  authorize: Authorize<RUNTIME_CONTEXT>;
  /**
   * The schema of the JSON that the route accepts. Other JSON is refused with 400, as is a `threadId` other than the one that `authorize`
   * was asked about.
   */
  schema: ZodType<BODY>;
  /** The field of the JSON that names the thread. Default `'threadId'`; `useChat` sends `'id'`. */
  threadIdField?: string;
  /** Called for a request that was let in. Default response: 200 with `{}`. The text of a `HoldpointError` is sent with its status. */
  handle: (post: AuthorizedPost<BODY, RUNTIME_CONTEXT>) => PromiseLike<Response | void>;
  /** The channel that is recorded, unless `authorize` names one. Default `'post'`. */
  channel?: string;
  /** The maximum size of a body. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** Called with an error that is not the client's, and with one of `authorize`; returns the text that the client gets. */
  onError?: (error: unknown) => string;
}

const settings = {
  agent: true,
  authorize: true,
  schema: true,
  threadIdField: true,
  handle: true,
  channel: true,
  maximumBodyBytes: true,
  onError: true,
  allowedOrigins: true,
} satisfies Record<keyof PostHandlerOptions<{ threadId: string }>, true>;

/**
 * Creates a POST route of your own about a thread, with the checks of `createUiHandler`: the page's origin, `application/json`, the size
 * and form of the body, and `authorize`. Nothing is called for a request that fails one of them: 400, 403 (also `foreign-origin`, a page of
 * another site), 405, 413, 415. Throws a `TypeError` for an unknown or missing option, and for an invalid origin.
 *
 * @example
 * export const POST = createPostHandler({
 *   agent,
 *   authorize,
 *   schema: z.object({ threadId: z.string() }),
 *   async handle({ body: { threadId }, by }) {
 *     await agent.stop(await agent.thread(threadId), by);
 *   },
 * });
 */
export function createPostHandler<
  BODY extends { threadId: string },
  RUNTIME_CONTEXT = Record<string, unknown>,
>(options: PostHandlerOptions<BODY, RUNTIME_CONTEXT>): (request: Request) => Promise<Response> {
  refuseUnknown('createPostHandler', options, settings);
  requireFunctions('createPostHandler', options, ['authorize', 'handle']);
  checkOrigins(options);
  const { agent = {}, schema, threadIdField = 'threadId', handle } = options;
  const { channel = 'post', onError } = options;
  const parse = (json: unknown): BODY => parseBody(schema, json);
  const format = { threadIdField, parse, maximumBodyBytes: 1_048_576, channel };
  return async (request) => {
    try {
      if (request.method !== 'POST') {
        return makeRefusalResponse(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
      }
      const posted = await receivePost({ ...options, agent }, request, format);
      if (posted instanceof Response) return posted;
      const { parsed: body, runOptions: by } = posted;
      return (await handle({ body, by, request })) ?? makeJsonResponse({});
    } catch (error) {
      return makeErrorResponse(error, onError);
    }
  };
}

function parseBody<BODY>(schema: ZodType<BODY>, json: unknown): BODY {
  const { data, error } = schema.safeParse(json);
  if (error === undefined) return data;
  throw new HoldpointError('invalid-input', `The body is not valid: ${renderSchemaError(error)}`);
}
