import * as fc from 'fast-check';
import { finishPart, type StreamPart, textParts } from './streamed-model.ts';
import { call, city, reasoningParts } from '../ui/streaming-site.ts';

const text = fc.constantFrom('Hi.', ' ', '', '\n\n', 'a b', '<b>', '\u202e');
const id = fc.constantFrom('c1', 'c2', 'c3');
const name = fc.constantFrom('book', 'look', 'fail', 'nope', 'toString', 'a.b');
const input = fc.constantFrom(
  city,
  '{"city":"Paris","price":1}',
  '{}',
  '{"city":',
  '{"__proto__":1}',
);
const part: fc.Arbitrary<StreamPart[]> = fc.oneof(
  fc.tuple(id, fc.array(text, { maxLength: 3 })).map(([key, deltas]) => textParts(key, ...deltas)),
  fc
    .tuple(id, fc.array(text, { maxLength: 3 }))
    .map(([key, deltas]) => reasoningParts(key, ...deltas)),
  fc.tuple(id, name, input).map(([key, toolName, given]) => call(key, toolName, given)),
  fc.tuple(id, name, input).map(([key, toolName, given]) => call(key, toolName, given).slice(-1)),
  fc.constant<StreamPart[]>([
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
  ]),
  fc.constant<StreamPart[]>([{ type: 'source', sourceType: 'url', id: 's', url: 'http://a.test' }]),
  id.map((key): StreamPart[] => [
    {
      type: 'tool-input-start',
      id: key,
      toolName: 'search',
      providerExecuted: true,
      dynamic: true,
    },
    { type: 'tool-input-end', id: key },
    {
      type: 'tool-call',
      toolCallId: key,
      toolName: 'search',
      input: '{}',
      providerExecuted: true,
      dynamic: true,
    },
    {
      type: 'tool-result',
      toolCallId: key,
      toolName: 'search',
      result: { found: key },
      dynamic: true,
    },
  ]),
  fc.constant<StreamPart[]>([
    { type: 'text-start', id: 'open' },
    { type: 'text-delta', id: 'open', delta: 'never ended' },
  ]),
);
const finish = fc.constantFrom('stop', 'tool-calls', 'length').map((reason) => finishPart(reason));
/** What a model may stream in one step: texts, thoughts, calls good and bad, files, sources, what its provider ran, and parts without end. */
export const generatedStep: fc.Arbitrary<StreamPart[]> = fc
  .tuple(fc.array(part, { maxLength: 4 }), finish)
  .map(([parts, end]) => [...parts.flat(), end]);
