/** A server-sent event of JSON. */
export function eventOf(data: object, name?: string): string {
  const event = name === undefined ? '' : `event: ${name}\n`;
  return `${event}data: ${JSON.stringify(data)}\n\n`;
}

/** A text in pieces of `length` UTF-16 code units: with 1, every escape and every surrogate pair is cut. */
export function* piecesOf(text: string, length: number): Generator<string, void, void> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
}

/**
 * The bytes of a stream of events as a careless network hands them on: each chunk ends in the middle of a line or of a character,
 * and none at the end of an event.
 */
export function* chunksOf(events: Iterable<string>): Generator<Buffer, void, void> {
  let rest = Buffer.alloc(0);
  for (const event of events) {
    const bytes = Buffer.concat([rest, Buffer.from(event)]);
    let start = 0;
    for (const cut of cutsIn(bytes)) {
      yield bytes.subarray(start, cut);
      start = cut;
    }
    rest = bytes.subarray(start);
  }
  yield rest;
}

const lineEnd = 0x0a;
/** Whether a byte of UTF-8 goes on with a character. */
const continues = (byte = 0): boolean => byte >= 0x80 && byte < 0xc0;

function* cutsIn(bytes: Buffer): Generator<number, void, void> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(lineEnd, start);
    const end = found === -1 ? bytes.length : found;
    const middle = Math.floor((start + end) / 2);
    for (let place = start + 1; place < end; place += 1) {
      if (place === middle || continues(bytes[place])) yield place;
    }
    start = end + 1;
  }
}
