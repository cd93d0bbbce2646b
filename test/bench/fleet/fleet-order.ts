import { z } from 'zod';

/** What a process of a fleet is told to do. It reports the result of each order. */
export const orderSchema = z.discriminatedUnion('type', [
  /** Makes threads whose approval is waited for or, with `isAnswered`, recorded. */
  z.object({
    type: z.literal('prepare'),
    name: z.string(),
    threads: z.int(),
    isAnswered: z.boolean(),
  }),
  /** Runs the threads of agents of this name with so many workers, each with a pool of its own, until it has to stop. */
  z.object({
    type: z.literal('work'),
    name: z.string(),
    workers: z.int(),
    toolMs: z.number(),
    pollMs: z.number(),
    leaseMs: z.number(),
    /** Whether each call adds a row to the table `effects`. */
    countsEffects: z.boolean(),
  }),
  z.object({ type: z.literal('stop') }),
  /** Answers the threads that `prepare` has made, one after the other. */
  z.object({
    type: z.literal('answer'),
    name: z.string(),
    threads: z.int(),
    everyMs: z.number(),
  }),
  /** Appends to threads of its own on so many connections. */
  z.object({
    type: z.literal('append'),
    load: z.enum(['plain', 'due', 'due, without notices', 'requests', 'requests, without notices']),
    connections: z.int(),
    ms: z.number(),
  }),
  /** Times the cycle of an approval beside the AI SDK's own and raw inserts. */
  z.object({ type: z.literal('cycles'), rounds: z.int() }),
]);

export type FleetOrder = z.infer<typeof orderSchema>;
export type OrderOf<TYPE extends FleetOrder['type']> = Extract<FleetOrder, { type: TYPE }>;

/** Milliseconds of a cycle, of the AI SDK's own and of a raw insert, and the statements of a cycle. */
const cycleSchema = z.object({
  own: z.number(),
  ai: z.number(),
  insert: z.number(),
  statements: z.number(),
});

export type CycleSample = z.infer<typeof cycleSchema>;

const moments = z.array(z.tuple([z.string(), z.number()]));

/** What a process reports. Moments are milliseconds since 1970 of a thread. */
export const reportSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('ended'), count: z.int() }),
  z.object({
    type: z.literal('done'),
    started: moments.optional(),
    answered: moments.optional(),
    reads: z.int().optional(),
    claims: z.int().optional(),
    statements: z.int().optional(),
    perSecond: z.number().optional(),
    cycle: cycleSchema.optional(),
  }),
  z.object({ type: z.literal('failed'), message: z.string() }),
]);

export type FleetReport = z.infer<typeof reportSchema>;
export type FleetResult = Extract<FleetReport, { type: 'done' }>;

/** This moment in milliseconds since 1970, finer than a millisecond. */
export function readClock(): number {
  return performance.timeOrigin + performance.now();
}

/** The id of a thread of an agent. */
export function threadName(name: string, index: number): string {
  return `${name}-${index}`;
}
