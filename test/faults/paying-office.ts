import { tool } from 'ai';
import { eventsOf } from 'holdpoint/schemas';
import { postgresStore } from 'holdpoint/stores/postgres';
import type { Pool } from 'pg';
import { z } from 'zod';
import {
  citySchema,
  type Payment,
  type Staff,
  staffOf,
  type SubAgentScenario,
} from './paying-staff.ts';

/** The agents of a scenario, in one process of several that share a database. */
export interface PayingOffice extends Staff {
  store: ReturnType<typeof postgresStore>;
  payments(): Promise<Payment[]>;
}

/* No index keeps a payment from being made twice. */
const table =
  'create table if not exists payments (city text, thread_id text, tool_call_id text, key text)';
const insert = 'insert into payments values ($1, $2, $3, $4)';
const paymentSchema = z
  .object({ city: z.string(), thread_id: z.string(), tool_call_id: z.string() })
  .transform(({ city, thread_id: threadId, tool_call_id: toolCallId }) => ({
    city,
    threadId,
    toolCallId,
  }));

/** Makes the tables of an office. */
export async function openLedger(pool: Pool): Promise<void> {
  await pool.query(table);
  await postgresStore(pool).list({});
}

/** Opens the office on a database. It calls `pass` at each boundary: before and after each append, and each payment. */
export function openOffice(
  pool: Pool,
  scenario: SubAgentScenario,
  pass: (boundary: string) => void = () => {},
): PayingOffice {
  const kept = postgresStore(pool);
  const pay = tool({
    inputSchema: citySchema,
    execute: async ({ city }, options) => {
      const { threadId, idempotencyKey } = paidIn.parse(options);
      pass('before the payment');
      await pool.query(insert, [city, threadId, options.toolCallId, idempotencyKey]);
      pass('after the payment');
      return `paid ${city}`;
    },
  });
  const store: typeof kept = {
    ...kept,
    async append(threadId, expected, entries, summary, ...others) {
      const types = entries.flatMap((entry) => eventsOf({ ...entry })).map(({ type }) => type);
      const what = `${summary.agent}: ${types.join()}`;
      pass(`before ${what}`);
      await kept.append(threadId, expected, entries, summary, ...others);
      pass(`after ${what}`);
    },
  };
  const staff = staffOf(scenario, async (answer) => answer(), {
    tools: { pay },
    store,
    leaseMs: 2_000,
  });
  return {
    ...staff,
    store,
    payments: async () => {
      const { rows } = await pool.query('select * from payments');
      return rows.map((row) => paymentSchema.parse(row));
    },
  };
}

const paidIn = z.object({ threadId: z.string(), idempotencyKey: z.string() });
