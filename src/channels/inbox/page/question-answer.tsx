import { findInputMode } from '../../../json/field-schema.ts';
import { inertLine, inertText } from '../../../content/inert-text.ts';
import {
  type QuestionAnswer as Given,
  type QuestionField,
  type QuestionRequestContent,
  describeText,
  visitedAddress,
  whyNotAnswer,
} from '../../../content/question.ts';
import { useId, useState } from 'preact/hooks';
import type { InboxEntry } from '../inbox-api.ts';
import { Address } from './address.tsx';
import type { Draft } from './answers.ts';
import { Button } from './button.tsx';
import type { Inbox } from './inbox.ts';

interface QuestionFieldsProps {
  inbox: Inbox;
  entry: InboxEntry;
  request: QuestionRequestContent;
}

/** The fields of a question. An answer never approves a call, and no key in a field sends it. */
export function QuestionFields({ inbox, entry, request }: QuestionFieldsProps) {
  const { answering } = inbox;
  const { requestId, rights } = entry;
  const [fault, setFault] = useState<{ key?: string | undefined; reason: string }>();
  if (!rights.mayAnswer) return null;
  const { picks = noPicks } = answering.draft(requestId);
  const send = (): void => {
    const answers = request.fields.map((field) => readField(field, picks));
    const response = { type: 'question-response', requestId, status: 'answered', answers } as const;
    const found = whyNotAnswer(request, response);
    if (found === undefined) return answering.answerQuestion(answers);
    setFault({ key: found.field?.[0], reason: found.reason });
    document.getElementById(fieldId(found.field?.[0] ?? ''))?.focus();
  };
  const whyNot = answering.whyNot === undefined ? undefined : 'answer-why';
  const isRested = (): boolean => answering.isRested;
  const address = request.metadata?.[visitedAddress];
  return (
    <div class="question">
      {typeof address === 'string' && (
        <p>
          <Address url={address} />
        </p>
      )}
      {request.fields.map((field) => (
        <Field
          key={field.key}
          field={field}
          isOnly={request.fields.length === 1}
          picked={picks.get(field.key) ?? { optionIds: [], text: '' }}
          fault={fault?.key === field.key ? fault.reason : undefined}
          onPick={(pick) => {
            setFault(undefined);
            answering.setDraft(requestId, { picks: new Map([...picks, [field.key, pick]]) });
          }}
        />
      ))}
      <div class="buttons">
        <Button look="yes" whyNot={whyNot} isRested={isRested} onPress={send}>
          Answer
        </Button>
        {request.allowDismiss && rights.mayReject && (
          <Button
            whyNot={whyNot}
            isRested={isRested}
            onPress={() => answering.answerQuestion(undefined)}
          >
            Skip the question
          </Button>
        )}
      </div>
    </div>
  );
}

interface Pick {
  optionIds: readonly string[];
  text: string;
}

const noPicks: NonNullable<Draft['picks']> = new Map();

function readField({ key }: QuestionField, picks: NonNullable<Draft['picks']>): Given {
  const { optionIds = [], text = '' } = picks.get(key) ?? {};
  return { key, optionIds: [...optionIds], ...(text.trim() === '' ? {} : { text: text.trim() }) };
}

const fieldId = (key: string): string => `field ${key}`;

interface FieldProps {
  field: QuestionField;
  isOnly: boolean;
  picked: Pick;
  fault: string | undefined;
  onPick: (pick: Pick) => void;
}

function Field({ field, isOnly, picked, fault, onPick }: FieldProps) {
  const { key, label, options, max, freeText, preselected = [] } = field;
  const isMany = max > 1;
  const hint = describeText(field);
  const faultId = useId();
  const set = (id: string, isPicked: boolean): void => {
    const others = isMany ? picked.optionIds.filter((each) => each !== id) : [];
    onPick({ ...picked, optionIds: isPicked ? [...others, id] : others });
  };
  return (
    <fieldset
      id={fieldId(key)}
      tabIndex={-1}
      aria-describedby={fault === undefined ? undefined : faultId}
    >
      <legend class={isOnly ? 'unseen' : undefined}>{inertLine(label)}</legend>
      {options.map(({ id, label: name, description }) => (
        <label key={id} class="check">
          <input
            type={isMany ? 'checkbox' : 'radio'}
            name={fieldId(key)}
            checked={picked.optionIds.includes(id)}
            onChange={({ currentTarget }) => set(id, currentTarget.checked)}
          />
          <span>
            {inertLine(name)}
            {preselected.includes(id) && <small> (suggested)</small>}
            {description !== undefined && description !== '' && (
              <small class="about">{inertText(description)}</small>
            )}
          </span>
        </label>
      ))}
      {freeText !== 'never' && (
        <label class="field">
          {options.length === 0 ? 'Your answer' : 'In your own words'}
          {hint !== undefined && <small>{hint}</small>}
          <textarea
            rows={2}
            inputMode={findInputMode(field.schema)}
            value={picked.text}
            onInput={({ currentTarget }) => onPick({ ...picked, text: currentTarget.value })}
          />
        </label>
      )}
      {fault !== undefined && (
        <p class="refusal" id={faultId}>
          {inertLine(label)} {fault}.
        </p>
      )}
    </fieldset>
  );
}
