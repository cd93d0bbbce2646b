/*
 * A reader of AG-UI streams that is written from the protocol and shares no code with the package: frames by eventsource-parser,
 * shapes by the protocol's own schemas, order by the rules of its specification.
 */
import { EventSchema } from '@ag-ui/core/schemas';
import { createParser } from 'eventsource-parser';
import { expect } from 'vitest';
import type { z } from 'zod';

/** An event as the protocol has it. */
export type Told = z.infer<typeof EventSchema>;

/** The events of a stream that was read to its end; throws for one that breaks the protocol. */
export function checkedEvents(stream: string): Told[] {
  expect(stream.includes('\r'), 'lines end with \\n alone').toBe(false);
  const frames: unknown[] = [];
  const parser = createParser({
    onEvent: ({ data }) => void frames.push(JSON.parse(data)),
    onError: (error) => {
      throw error;
    },
  });
  parser.feed(stream);
  expect(stream === '' || stream.endsWith('\n\n'), 'the last frame is whole').toBe(true);
  const events = frames.map((frame) => {
    expect({ frame, nulls: nullsOf(frame) }).toEqual({ frame, nulls: [] });
    return EventSchema.parse(frame);
  });
  expect(faultsOf(events)).toEqual([]);
  return events;
}

/* Where any JSON may stand, null is a value. */
const open = new Set(['metadata', 'value', 'snapshot', 'responseSchema']);

function nullsOf(value: unknown, path = ''): string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
    open.has(key) ? [] : nullsOf(item, `${path}/${key}`),
  );
}

const begins: Record<string, string> = {
  TEXT_MESSAGE_START: 'text',
  REASONING_START: 'span',
  REASONING_MESSAGE_START: 'reasoning',
  TOOL_CALL_START: 'call',
};
const goesOn: Record<string, string> = {
  TEXT_MESSAGE_CONTENT: 'text',
  REASONING_MESSAGE_CONTENT: 'reasoning',
  TOOL_CALL_ARGS: 'call',
};
const ends: Record<string, string> = {
  TEXT_MESSAGE_END: 'text',
  REASONING_END: 'span',
  REASONING_MESSAGE_END: 'reasoning',
  TOOL_CALL_END: 'call',
};

function faultsOf(events: readonly Told[]): string[] {
  const types: string[] = events.map(({ type }) => type);
  const faults: string[] = [];
  const last = types.at(-1) ?? '';
  if (last === 'RUN_ERROR' && types.length === 1) return [];
  if (types[0] !== 'RUN_STARTED') faults.push(`begins with ${types[0]}`);
  if (types.indexOf('RUN_STARTED', 1) !== -1) faults.push('starts twice');
  if (last !== 'RUN_FINISHED' && last !== 'RUN_ERROR') faults.push(`ends with ${last}`);
  const final = types.findIndex((type) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
  if (final !== types.length - 1) faults.push('goes on after its end');
  const opened = new Set<string>();
  const answered = new Set<string>();
  for (const event of events) {
    const type: string = event.type;
    const id =
      'toolCallId' in event ? event.toolCallId : 'messageId' in event ? event.messageId : '';
    const key = (kind: string) => `${kind} ${String(id)}`;
    const beginning = begins[type];
    const going = goesOn[type];
    const ending = ends[type];
    if (beginning !== undefined) {
      if (opened.has(key(beginning))) faults.push(`${key(beginning)} begins twice`);
      opened.add(key(beginning));
    }
    if (going !== undefined && !opened.has(key(going))) faults.push(`${key(going)} is not begun`);
    if (ending !== undefined && !opened.delete(key(ending)))
      faults.push(`${key(ending)} ends unbegun`);
    if (type !== 'TOOL_CALL_RESULT') continue;
    if (answered.has(key('result'))) faults.push(`${key('result')} comes twice`);
    answered.add(key('result'));
  }
  if (last === 'RUN_FINISHED' && opened.size > 0) faults.push(`left open: ${[...opened].join()}`);
  return faults;
}
