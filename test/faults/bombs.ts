import type { Damage } from './damaged-threads.ts';

const many = 100_000;

/** The text with a bomb in it: deep, wide, or in a form that nobody writes. */
export function bombs(text: string): Damage[] {
  const all = [...deepBombs(text), ...wideBombs(text), ...oddForms(text)];
  return all.filter((damage) => damage.text !== text);
}

function deepBombs(text: string): Damage[] {
  const lists = deep('[', ']', many);
  const places: [where: string, old: string][] = [
    ['an input', '{"city":"Rome"}'],
    ['a principal', '{"subject":"ann"}'],
    ['an output', '"a flight to Paris"'],
    ['a message', '"Book two flights"'],
  ];
  return [
    ...places.flatMap(([where, old]) => [
      { what: `100,000 lists in ${where}`, text: text.replace(old, lists) },
      { what: `600 lists in ${where}`, text: text.replace(old, deep('[', ']', 600)) },
      {
        what: `100,000 objects in ${where}`,
        text: text.replace(old, deep('{"a":', '}', many, '1')),
      },
    ]),
    { what: '100,000 lists and nothing else', text: lists },
    {
      what: '100,000 lists for appends',
      text: text.replace(/"entries":.*\}$/s, `"entries":${lists}}`),
    },
    {
      what: '100,000 lists for events',
      text: text.replace(/"events":.*?,"hash"/s, `"events":${lists},"hash"`),
    },
  ];
}

function deep(open: string, close: string, depth: number, within = ''): string {
  return `${open.repeat(depth)}${within}${close.repeat(depth)}`;
}

function wideBombs(text: string): Damage[] {
  const keys = Array.from({ length: many }, (_, index) => `"k${index}":${index}`).join();
  const call = '{"type":"tool-call","toolCallId":"c3"';
  const calls = Array.from(
    { length: 5_000 },
    (_, index) => `{"type":"tool-call","toolCallId":"n${index}","toolName":"book","input":{}}`,
  ).join();
  return [
    { what: '100,000 keys in an input', text: text.replace('{"city":"Rome"}', `{${keys}}`) },
    { what: '100,000 keys in an event', text: text.replace('"runId"', `${keys},"runId"`) },
    { what: '100,000 keys in an append', text: text.replace('"v":1', `"v":1,${keys}`) },
    {
      what: '100,000 keys beside the appends',
      text: text.replace('"version"', `${keys},"version"`),
    },
    { what: '5,000 more calls in a step', text: text.replace(call, `${calls},${call}`) },
    {
      what: 'a text of ten million characters',
      text: text.replace('Book two flights', 'x'.repeat(10_000_000)),
    },
  ];
}

function oddForms(text: string): Damage[] {
  return [
    { what: 'a byte order mark', text: `\uFEFF${text}` },
    { what: 'a newer version', text: text.replace('"version":1', '"version":2') },
    { what: 'an append of a newer version', text: text.replace('"v":1', '"v":2') },
    { what: 'an append of a version of long ago', text: text.replace('"v":1', '"v":0') },
    { what: 'a version that is no number', text: text.replace('"version":1', '"version":"1"') },
    { what: 'two lists of appends', text: text.replace(/\}$/, ',"entries":[]}') },
    { what: 'two lists of events', text: text.replace('"}', '","events":[]}') },
    { what: 'no text', text: '' },
    { what: 'null', text: 'null' },
  ];
}
