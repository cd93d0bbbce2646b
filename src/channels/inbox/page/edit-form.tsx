import { useId } from 'preact/hooks';
import { inertLine, inertName, inertText } from '../../../content/inert-text.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { renderArgumentPath } from './argument-path.ts';
import { Changes } from './changes.tsx';
import {
  type EditDraft,
  type EditField,
  type EnteredValue,
  enterValue,
  listEditFields,
  parseEntered,
  readEditDraft,
  showCurrent,
} from './edit-draft.ts';
import { Inert } from './inert.tsx';
import { pickApproval } from './request-words.ts';

interface EditFormProps {
  entry: InboxEntry;
  /** Why the last answer was refused. */
  refusal?: { field?: readonly string[]; reason?: string; message: string } | undefined;
  /** What `onDraft` was told last; `undefined` at first. */
  draft: unknown;
  /** Told at each change. */
  onDraft: (draft: EditDraft) => void;
}

/** The fields of a call that may be edited. It sends nothing: the draft has the input to approve. */
export function EditForm({ entry, refusal, draft: kept, onDraft }: EditFormProps) {
  const draft = readEditDraft(kept);
  const fields = listEditFields(entry);
  const input = pickApproval(entry)?.toolCall?.input;
  const refused = fields.find(({ name }) => name === '' || name === refusal?.field?.[0]);
  return (
    <div className="edit-form" role="group" aria-label="Edit">
      {refusal !== undefined && (refused === undefined || refusal.field === undefined) && (
        <p className="fault">
          <Inert text={refusal.message} />
        </p>
      )}
      {fields.map((field) => {
        const entered = draft?.entered.get(field.name);
        const shown = entered ?? showCurrent(field);
        const parsed = entered === undefined ? undefined : parseEntered(field, entered);
        const fault = parsed !== undefined && 'fault' in parsed ? parsed.fault : undefined;
        return (
          <EditedField
            key={field.name}
            field={field}
            entered={shown}
            fault={fault ?? (field === refused ? describeRefusal(refusal) : undefined)}
            onEnter={(value) =>
              onDraft(enterValue(entry, draft, { name: field.name, entered: value }))
            }
          />
        );
      })}
      {draft?.input !== undefined && (
        <section>
          <h3>What you change</h3>
          <Changes name="draft" before={input} after={draft.input} declared={entry} />
        </section>
      )}
    </div>
  );
}

function describeRefusal(refusal: EditFormProps['refusal']): string | undefined {
  if (refusal?.field === undefined) return undefined;
  const { field, reason, message } = refusal;
  const text = inertText(reason ?? message);
  return field.length > 1 ? `${renderArgumentPath(field)} ${text}` : text;
}

interface EditedFieldProps {
  field: EditField;
  entered: EnteredValue;
  fault: string | undefined;
  onEnter: (entered: EnteredValue) => void;
}

function EditedField({ field, entered, fault, onEnter }: EditedFieldProps) {
  const id = useId();
  const { name, description, mayBe, kind } = field;
  const label = name === '' ? 'input' : inertName(name);
  const shown = inertText(entered.text);
  const isHidden = kind === 'text' && shown.includes('\\u{');
  const notes = [
    ...(description === undefined ? [] : [`${id}-about`]),
    ...(isHidden ? [`${id}-hidden`] : []),
    ...(fault === undefined ? [] : [`${id}-fault`]),
  ];
  const common = {
    id,
    'aria-invalid': fault !== undefined,
    ...(notes.length > 0 && { 'aria-describedby': notes.join(' ') }),
  };
  return (
    <div className="edited">
      <label htmlFor={id}>{label}</label>
      {description !== undefined && (
        <p className="muted" id={`${id}-about`}>
          {inertLine(description)}
        </p>
      )}
      <div className="entered">
        {mayBe.length > 0 && (
          <select
            aria-label={`${label}: given or not`}
            value={entered.is}
            onChange={({ currentTarget: { value } }) =>
              onEnter({
                is: value === 'null' || value === 'absent' ? value : 'value',
                text: entered.text,
              })
            }
          >
            <option value="value">given</option>
            {mayBe.includes('null') && <option value="null">null</option>}
            {mayBe.includes('absent') && <option value="absent">left out</option>}
          </select>
        )}
        {entered.is === 'value' && (
          <Control
            field={field}
            text={entered.text}
            common={common}
            onText={(text) => onEnter({ is: 'value', text })}
          />
        )}
      </div>
      {isHidden && (
        <p className="warning" id={`${id}-hidden`}>
          With what would be invisible: <Inert text={entered.text} />
        </p>
      )}
      {fault !== undefined && (
        <p className="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
}

interface ControlProps {
  field: EditField;
  text: string;
  common: { id: string; 'aria-invalid': boolean; 'aria-describedby'?: string };
  onText: (text: string) => void;
}

function Control({ field: { kind, choices }, text, common, onText }: ControlProps) {
  const rows = Math.min(16, Math.max(text.split('\n').length, Math.ceil(text.length / 60)) + 1);
  switch (kind) {
    case 'text':
    case 'json':
      return (
        <textarea
          {...common}
          className={kind === 'json' ? 'code' : undefined}
          rows={rows}
          spellcheck={kind === 'text'}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      );
    case 'number':
    case 'integer':
      return (
        <input
          {...common}
          type="text"
          inputMode={kind === 'integer' ? 'numeric' : 'decimal'}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      );
    case 'boolean':
    case 'choice': {
      const options =
        kind === 'boolean'
          ? ['true', 'false'].map((each) => ({ value: each, label: each }))
          : choices.map((each, index) => ({ value: String(index), label: writeChoice(each) }));
      const isKnown = options.some(({ value }) => value === text);
      return (
        <select
          {...common}
          value={text}
          onChange={({ currentTarget }) => onText(currentTarget.value)}
        >
          {!isKnown && <option value={text}>–</option>}
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      );
    }
  }
}

function writeChoice(value: unknown): string {
  return inertLine(typeof value === 'string' ? value : JSON.stringify(value));
}
