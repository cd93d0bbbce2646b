import { z } from 'zod';
import { eventOf } from './event-stream.ts';
import type { StreamedRequest, StreamProtocol } from './provider-protocol.ts';

const part = z.looseObject({ type: z.string(), text: z.string() });
const item = z.looseObject({
  type: z.string(),
  id: z.string(),
  summary: z.array(part).optional(),
  content: z.array(part).optional(),
  arguments: z.string().optional(),
});
type Item = z.infer<typeof item>;

const answerSchema = z.looseObject({ status: z.string(), output: z.array(item) });

/** An event before it has its number. */
type Unnumbered = readonly [type: string, data: object];

/** Responses in events: item after item, each added empty, filled, and done; an item of another type comes whole. */
export const responsesStream: StreamProtocol = {
  *events(answer, asked) {
    let number = 0;
    for (const [type, data] of eventsOf(answer, asked)) {
      yield eventOf({ type, sequence_number: number, ...data }, type);
      number += 1;
    }
  },
  failure: (message) =>
    eventOf({ type: 'error', sequence_number: 99, code: null, message, param: null }, 'error'),
};

function* eventsOf(answer: object, asked: StreamedRequest): Generator<Unnumbered> {
  const response = answerSchema.parse(answer);
  const unfinished = { status: 'in_progress', incomplete_details: null, output: [], usage: null };
  yield ['response.created', { response: { ...response, ...unfinished } }];
  yield ['response.in_progress', { response: { ...response, ...unfinished } }];
  for (const [index, done] of response.output.entries()) {
    const place = { output_index: index };
    yield ['response.output_item.added', { ...place, item: emptied(done) }];
    for (const [type, data] of fillingOf(done, asked)) {
      yield [`response.${type}`, { item_id: done.id, ...place, ...data }];
    }
    yield ['response.output_item.done', { ...place, item: done }];
  }
  yield [`response.${response.status}`, { response }];
}

function emptied(done: Item): object {
  const added = 'status' in done ? { ...done, status: 'in_progress' } : done;
  switch (done.type) {
    case 'reasoning':
      return { ...added, summary: [] };
    case 'message':
      return { ...added, content: [] };
    case 'function_call':
      return { ...added, arguments: '' };
    default:
      return added;
  }
}

function* fillingOf(done: Item, { pieces }: StreamedRequest): Generator<Unnumbered> {
  for (const [index, whole] of (done.summary ?? []).entries()) {
    const place = { summary_index: index };
    yield ['reasoning_summary_part.added', { ...place, part: { ...whole, text: '' } }];
    for (const delta of pieces(whole.text)) {
      yield ['reasoning_summary_text.delta', { ...place, delta }];
    }
    yield ['reasoning_summary_text.done', { ...place, text: whole.text }];
    yield ['reasoning_summary_part.done', { ...place, part: whole }];
  }
  for (const [index, whole] of (done.content ?? []).entries()) {
    const place = { content_index: index };
    yield ['content_part.added', { ...place, part: { ...whole, text: '' } }];
    for (const delta of pieces(whole.text)) yield ['output_text.delta', { ...place, delta }];
    yield ['output_text.done', { ...place, text: whole.text }];
    yield ['content_part.done', { ...place, part: whole }];
  }
  if (done.type !== 'function_call') return;
  for (const delta of pieces(done.arguments ?? '')) {
    yield ['function_call_arguments.delta', { delta }];
  }
  yield ['function_call_arguments.done', { arguments: done.arguments }];
}
