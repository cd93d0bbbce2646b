/* In bytes: the limit of the protocol's library for a server that is a process. */
const longestMessage = 10_485_760;

/** `fetch` for servers that are not trusted: a response fails once its body, or one event of a stream, is longer than 10 MiB. */
export async function fetchBounded(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  const measure = isStream ? makeEventMeter() : makeMeter();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (measure(chunk) <= longestMessage) controller.enqueue(chunk);
      else controller.error(new Error(`It has sent more than ${longestMessage} bytes at once.`));
    },
  });
  return new Response(response.body.pipeThrough(bounded), response);
}

/** Makes a function that returns the number of bytes of the current message after a chunk. */
type MakeMeter = () => (chunk: Uint8Array) => number;

const makeMeter: MakeMeter = () => {
  let length = 0;
  return (chunk) => (length += chunk.length);
};

const lineFeed = 10;
const carriageReturn = 13;

/* An empty line ends an event. */
const makeEventMeter: MakeMeter = () => {
  let length = 0;
  let isLineEmpty = false;
  return (chunk) => {
    for (const byte of chunk) {
      length = byte === lineFeed && isLineEmpty ? 0 : length + 1;
      isLineEmpty = byte === lineFeed || (isLineEmpty && byte === carriageReturn);
    }
    return length;
  };
};
