import { z } from 'zod';
import { makeRefusalResponse } from './error-response.ts';

/**
 * The JSON of a request's body, at most `maximumBytes` long, and its text; or the response that refuses the body. The content type must
 * be `application/json`: pages of other sites can't send that without a CORS preflight.
 */
export async function readJsonBody(
  request: Request,
  maximumBytes: number,
): Promise<{ json: unknown; text: string } | Response> {
  const body = await readJsonText(request, maximumBytes);
  if (body instanceof Response) return body;
  try {
    const json: unknown = JSON.parse(body.text);
    return { json, text: body.text };
  } catch {
    return makeInvalidJsonResponse();
  }
}

/** A field of a body, if it is a text. Nothing else of the body is read. */
export function readTextField(json: unknown, name: string): string | undefined {
  return z.object({ [name]: z.string() }).safeParse(json).data?.[name];
}

/** The text of such a body, to check its signature before it is parsed. */
export async function readJsonText(
  request: Request,
  maximumBytes: number,
): Promise<{ text: string } | Response> {
  return readBodyText(request, { type: 'application/json', maximumBytes });
}

/** The text of a body of this content type, at most `maximumBytes` long; or the response that refuses it. */
export async function readBodyText(
  request: Request,
  { type, maximumBytes }: { type: string; maximumBytes: number },
): Promise<{ text: string } | Response> {
  const [sent = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (sent.trim().toLowerCase() !== type) {
    return makeRefusalResponse(415, 'unsupported-media-type', `The body must be ${type}.`);
  }
  const bytes = await readBytes(request, maximumBytes);
  if (bytes === undefined) {
    return makeRefusalResponse(
      413,
      'too-large',
      `The body must not have more than ${maximumBytes} bytes.`,
    );
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return makeInvalidJsonResponse();
  }
}

function makeInvalidJsonResponse(): Response {
  return makeRefusalResponse(400, 'invalid-input', 'The body is not valid JSON.');
}

/* Stops reading at the limit, because the content-length header may be wrong. */
async function readBytes(
  request: Request,
  maximumBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const body: AsyncIterable<Uint8Array<ArrayBuffer>> | null = request.body;
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maximumBytes) {
    await drain(body ?? [], announced);
    return undefined;
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.byteLength;
    /* Negated, because comparisons with NaN are always false. */
    if (!(length <= maximumBytes)) return undefined;
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const maximumDrainedBytes = 67_108_864;

/* A proxy that is still sending would report a closed connection instead of the refusal, and the page would retry. */
async function drain(body: AsyncIterable<Uint8Array> | [], announced: number): Promise<void> {
  if (!(announced <= maximumDrainedBytes)) return;
  let length = 0;
  for await (const part of body) {
    length += part.byteLength;
    if (length > announced) return;
  }
}
