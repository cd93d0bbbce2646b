import { z } from 'zod';

const partSchema = z.looseObject({
  state: z.literal('approval-responded'),
  approval: z.looseObject({
    id: z.string(),
    approved: z.unknown().optional(),
    reason: z.string().optional(),
    descriptor: z.looseObject({ digest: z.string().optional() }).optional().catch(undefined),
  }),
});

/**
 * The unsent answers that a page has put into an assistant message; the rest of the message is ignored. They carry the digest of what was
 * shown, so that an answer is refused if the request was about anything else.
 */
export function approvalAnswers(message: unknown): unknown[] {
  const { data } = z.looseObject({ parts: z.array(z.unknown()) }).safeParse(message);
  return (data?.parts ?? []).flatMap((part) => {
    const responded = partSchema.safeParse(part);
    if (!responded.success) return [];
    const { id: requestId, approved, reason, descriptor } = responded.data.approval;
    return [
      {
        type: 'approval-response',
        requestId,
        approved,
        ...(reason === undefined ? {} : { reason }),
        ...(descriptor?.digest === undefined ? {} : { digest: descriptor.digest }),
      },
    ];
  });
}
