import type { Socket } from 'node:net';

/** One message of the Postgres protocol, version 3. The first of a client has no letter: its type is empty. */
export interface PostgresMessage {
  type: string;
  body: Buffer;
  /** All of it, as it came. */
  bytes: Buffer;
}

/** The bytes of a message: numbers are four bytes each, texts end in a zero byte. */
export function messageBytes(type: string, ...parts: readonly (string | number)[]): Buffer {
  const body = Buffer.concat(parts.map(partBytes));
  return Buffer.concat([Buffer.from(type), partBytes(body.length + 4), body]);
}

function partBytes(part: string | number): Buffer {
  if (typeof part === 'string') return Buffer.from(`${part}\0`);
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(part);
  return bytes;
}

/** The messages that come in on a socket. Who stops reading closes it. */
export async function* messagesOf(
  socket: Socket,
  from: 'client' | 'server',
): AsyncGenerator<PostgresMessage, void, void> {
  let letters = from === 'client' ? 0 : 1;
  let left: Buffer = Buffer.alloc(0);
  for await (const chunk of socket) {
    left = Buffer.concat([left, chunk]);
    for (let size = sizeOf(left, letters); left.length >= size; size = sizeOf(left, letters)) {
      const bytes = left.subarray(0, size);
      left = left.subarray(size);
      yield {
        type: bytes.toString('latin1', 0, letters),
        body: bytes.subarray(letters + 4),
        bytes,
      };
      letters = 1;
    }
  }
}

/** How long the first message is; more than there is, while too little came to tell. */
function sizeOf(bytes: Buffer, letters: number): number {
  return bytes.length < letters + 4 ? Infinity : letters + bytes.readInt32BE(letters);
}
