import { tracingChannel } from 'node:diagnostics_channel';
import type { ThreadEvent, TraceMessage } from 'holdpoint';

/** The messages of the tracing channel since then, in order. */
export interface Heard extends Disposable {
  /** Moments and types, those of events for what is appended: `'start started'`, `'start request-opened'`. */
  readonly moments: string[];
  /** The messages, each once. */
  readonly messages: TraceMessage[];
}

/** Subscribes to all messages of the tracing channel; `onStart` receives each message first. */
export function listenToAll(onStart: (message: TraceMessage) => void = () => {}): Heard {
  return listenTo(() => true, onStart);
}

const ofRequestsAndCalls = new Set<ThreadEvent['type']>([
  'request-opened',
  'request-answered',
  'request-closed',
  'call-lost',
  'call-ended',
]);

/** Subscribes to messages about requests and calls, without those about the runs and steps around them. */
export function listen(onStart: (message: TraceMessage) => void = () => {}): Heard {
  return listenTo((message) => {
    if (message.type === 'appended') return ofRequestsAndCalls.has(message.event.type);
    return message.type !== 'invoked' && message.type !== 'prompted';
  }, onStart);
}

function listenTo(
  isWanted: (message: TraceMessage) => boolean,
  onStart: (message: TraceMessage) => void,
): Heard {
  const moments: string[] = [];
  const messages: TraceMessage[] = [];
  const at = (moment: string) => (message: TraceMessage) => {
    const { type } = message.type === 'appended' ? message.event : message;
    if (isWanted(message)) moments.push(`${moment} ${type}`);
  };
  const subscribers = {
    start(message: TraceMessage) {
      if (!isWanted(message)) return;
      at('start')(message);
      messages.push(message);
      onStart(message);
    },
    end: () => {},
    asyncStart: () => {},
    asyncEnd: at('asyncEnd'),
    error: at('error'),
  };
  const channel = tracingChannel<unknown, TraceMessage>('holdpoint');
  channel.subscribe(subscribers);
  return { moments, messages, [Symbol.dispose]: () => channel.unsubscribe(subscribers) };
}

/** The messages of a type. */
export function ofType<TYPE extends TraceMessage['type']>(
  { messages }: Heard,
  type: TYPE,
): Extract<TraceMessage, { type: TYPE }>[] {
  return messages.filter(
    (message): message is Extract<TraceMessage, { type: TYPE }> => message.type === type,
  );
}

type Appended = Extract<TraceMessage, { type: 'appended' }>;

/** The messages of appended events of a type. */
export function ofEvent<TYPE extends ThreadEvent['type']>(
  { messages }: Heard,
  type: TYPE,
): (Appended & { event: Extract<ThreadEvent, { type: TYPE }> })[] {
  return messages.filter(
    (message): message is Appended & { event: Extract<ThreadEvent, { type: TYPE }> } =>
      message.type === 'appended' && message.event.type === type,
  );
}
