import { refusal } from './error-response.ts';

/**
 * The JSON of a request's body, of `maximumBytes` at the most, with the text it was read from, or the response that refuses it. The
 * type must be `application/json`: a form of another site can't send that without asking first.
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
    return noJson();
  }
}

/** The text of such a body, for who looks at it before it is parsed. */
export async function readJsonText(
  request: Request,
  maximumBytes: number,
): Promise<{ text: string } | Response> {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    return refusal(415, 'unsupported-media-type', 'The body must be application/json.');
  }
  const bytes = await readBytes(request, maximumBytes);
  if (bytes === undefined) {
    return refusal(413, 'too-large', `The body must not have more than ${maximumBytes} bytes.`);
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return noJson();
  }
}

function noJson(): Response {
  return refusal(400, 'invalid-input', 'The body is no JSON.');
}

/* Read no further than the limit, whatever the request says of its length. */
async function readBytes(
  request: Request,
  maximumBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const body: AsyncIterable<Uint8Array<ArrayBuffer>> | null = request.body;
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maximumBytes) {
    await drop(body ?? [], announced);
    return undefined;
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.byteLength;
    /* Nothing is more than NaN, and nothing is within it. */
    if (!(length <= maximumBytes)) return undefined;
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const maximumDroppedBytes = 67_108_864;

/* A proxy that is still sending would report a closed connection instead of the refusal, and a page would send again. */
async function drop(body: AsyncIterable<Uint8Array> | [], announced: number): Promise<void> {
  if (!(announced <= maximumDroppedBytes)) return;
  let length = 0;
  for await (const part of body) {
    length += part.byteLength;
    if (length > announced) return;
  }
}
