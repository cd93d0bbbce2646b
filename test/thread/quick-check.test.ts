import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { makeQuickCheck, threadEventSchema } from '../../src/thread/thread-event.ts';
import { countTrials } from '../support/sampling.ts';

const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
const message = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };
/** Values of every kind. A part of an event is one of those that its schema accepts, until it is damaged. */
const sparse: unknown[] = ['a'];
sparse.length = 2;
const values: readonly unknown[] = [
  '',
  'a',
  traceparent,
  0,
  7,
  -1,
  1.5,
  2 ** 60,
  Number.NaN,
  Infinity,
  1n,
  true,
  false,
  null,
  undefined,
  () => true,
  new Date(1),
  Object.create({ type: 'text' }),
  {},
  [],
  [undefined],
  ['a'],
  sparse,
  { type: 'text' },
  message,
  { role: 'assistant', content: 'Hi' },
  { role: 'tool', content: [] },
  { ...message, content: [{}] },
];

/** Values that a schema accepts, with each of its fields. */
function generate(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.def.shape);
    return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, generate(field)])), {
      requiredKeys: fields.flatMap(([name, field]) => (isOptional(field) ? [] : [name])),
      noNullPrototype: true,
    });
  }
  if (schema instanceof z.ZodOptional) return generate(schema.def.innerType);
  if (schema instanceof z.ZodNullable) return fc.option(generate(schema.def.innerType));
  if (schema instanceof z.ZodUnion) return fc.oneof(...schema.def.options.map(generate));
  if (schema instanceof z.ZodArray) {
    return fc.array(generate(schema.def.element), { minLength: 1, maxLength: 3 });
  }
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.def.values);
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  return fc.constantFrom(...values.filter((value) => accepts(schema, value)));
}

function isOptional(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodOptional;
}

function accepts(schema: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(schema, value).success;
}

interface Damage {
  /** At which of the parts of an event, counted through. */
  place: number;
  key: number;
  how: 'replace' | 'remove' | 'add';
  value: unknown;
}

const damage: fc.Arbitrary<Damage> = fc.record({
  place: fc.nat(30),
  key: fc.nat(30),
  how: fc.constantFrom('replace', 'remove', 'add'),
  value: fc.constantFrom(...values),
});

/** Changes one part of an event, at any depth. */
function apply(event: unknown, { place, key, how, value }: Damage): void {
  const parts = listParts(event);
  const part = parts[place % Math.max(1, parts.length)];
  if (part === undefined) return;
  const names = how === 'add' ? ['extra', 'toString', '__proto__'] : Object.keys(part);
  const name = names[key % Math.max(1, names.length)] ?? '0';
  if (how === 'remove') Reflect.deleteProperty(part, name);
  else {
    const shown = { enumerable: true, writable: true, configurable: true };
    Object.defineProperty(part, name, { value: copy(value), ...shown });
  }
}

/** The arrays and plain objects in a value. */
function listParts(value: unknown): object[] {
  if (!isShared(value)) return [];
  return [value, ...Object.values(value).flatMap(listParts)];
}

/** Copies the arrays and plain objects of a value, as generated values share some. */
function copy(value: unknown): unknown {
  if (!isShared(value)) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)]));
}

function isShared(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

test.each(threadEventSchema.options.map((schema) => [schema.shape.type.value, schema] as const))(
  'a quick check of %s accepts what is valid, and nothing that its schema refuses',
  (_type, schema) => {
    const check = makeQuickCheck(schema);
    const property = fc.property(
      generate(schema),
      fc.array(damage, { maxLength: 2 }),
      (made, damages) => {
        const event: unknown = copy(made);
        expect([check(event), accepts(schema, event)]).toEqual([true, true]);
        for (const each of damages) apply(event, each);
        expect(check(event) && !accepts(schema, event)).toBe(false);
      },
    );
    fc.assert(property, { numRuns: countTrials(400) });
  },
);

test.each<[string, z.core.$ZodType, unknown]>([
  ['a refined text', z.string().min(1), ''],
  ['a refined number', z.number().positive(), -1],
  ['a refined list', z.array(z.string()).nonempty(), []],
  ['a refined object', z.strictObject({ a: z.string() }).refine(({ a }) => a === 'a'), { a: 'b' }],
  ['a number', z.number(), Number.NaN],
  ['a whole number', z.int(), 1.5],
  ['a list with a hole', z.array(z.string()), sparse],
  ['an object with an unknown field', z.strictObject({}), { a: 'a' }],
  ['an object without a field', z.strictObject({ a: z.unknown() }), {}],
])('a quick check refuses %s that its schema refuses', (_what, schema, value) => {
  expect([accepts(schema, value), makeQuickCheck(schema)(value)]).toEqual([false, false]);
});
