import { inertLine } from '../../../content/inert-text.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { Inert } from './inert.tsx';
import { LongText } from './long-text.tsx';
import { Field, MissingField } from './reading.tsx';
import { Warnings } from './warnings.tsx';

/* A longer title is cut, and shown in full here. */
const longestTitle = 300;

/** Checks whether a title can't show a text in full. */
function isLongTitle(text: string): boolean {
  return text.length > longestTitle || text.includes('\n');
}

/** Checks whether the content of an entry is missing. A list leaves out long content. */
export function isAbsent({ request, lostCall, stuck }: InboxEntry): boolean {
  return request === undefined && lostCall === undefined && stuck === undefined;
}

/** The effect of a request: its text if the title is too short for it, the tool, the reason for asking, and look-alike warnings. */
export function Effect({ entry }: { entry: InboxEntry }) {
  const { request, lostCall, stuck, toolName } = entry;
  const why = request?.type === 'approval-request' ? request.reason : undefined;
  return (
    <section aria-label="Effect">
      <Field name="effect" label="effect">
        <p className="effect">
          {entry.risk !== null && (
            <span className={`risk ${entry.risk}`}>{words[entry.risk]} risk</span>
          )}
          {toolName !== null && <span className="code">{inertLine(toolName)}</span>}
        </p>
        {request !== undefined && isLongTitle(request.text) && <LongText text={request.text} />}
        {why !== undefined && (
          <p>
            Why: <Inert text={why} />
          </p>
        )}
        {lostCall?.error !== undefined && (
          <p>
            Lost: <LongText text={lostCall.error} />
          </p>
        )}
        {stuck !== undefined && (
          <p>
            {stuck.failures.toLocaleString('en')} runs in a row have failed
            {stuck.error !== undefined && (
              <>
                : <LongText text={stuck.error} />
              </>
            )}
          </p>
        )}
        {isAbsent(entry) && (
          <MissingField name="request" label="what is asked">
            What is asked is not here: it was erased, is damaged, or has yet to be read.
          </MissingField>
        )}
        <Warnings of={[entry]} />
      </Field>
    </section>
  );
}

const words = { low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' };
