/* Offices in a process of their own, which ends with the process that started it. Each message opens one, or calls a method of one. */
import { z } from 'zod';
import { openOffice } from './page-office.ts';

const orderSchema = z.object({
  id: z.number(),
  office: z.number().optional(),
  method: z.string(),
  parameters: z.array(z.unknown()),
});
const optionsSchema = z.object({ now: z.number().optional() });
const offices: Awaited<ReturnType<typeof openOffice>>[] = [];

async function obey({ office, method, parameters }: z.infer<typeof orderSchema>): Promise<unknown> {
  if (office === undefined) {
    const opened = await openOffice(optionsSchema.parse(parameters[0]));
    return { office: offices.push(opened) - 1, url: opened.url };
  }
  const of = offices[office];
  if (of === undefined) throw new Error(`There is no office ${office}.`);
  return Reflect.apply(Reflect.get(of, method), of, parameters);
}

async function answer(text: unknown): Promise<void> {
  const order = orderSchema.parse(JSON.parse(String(text)));
  const { id } = order;
  const answered = await obey(order).then(
    (result) => ({ id, result }),
    (error: unknown) => ({ id, error: String(error) }),
  );
  process.send?.(JSON.stringify(answered));
}

process.on('message', (text) => void answer(text));
process.on('disconnect', () => process.exit());
