import { useEffect, useMemo, useState } from 'preact/hooks';
import { inertLine } from '../../../content/inert-text.ts';
import type { FieldFormat } from '../inbox-api.ts';
import { describeSize, detectFileType, readBase64, toHex, type FileType } from './file-type.ts';
import { Literal, NotShown, Tag } from './literal.tsx';
import { LongText } from './long-text.tsx';
import { useHold, useReader } from './reading.tsx';

interface FileValueProps {
  /** Its unique name in the shown content. */
  name: string;
  base64: string;
  format: Extract<FieldFormat, { type: 'file' }>;
}

/** A file, shown from its own bytes: nothing is fetched, and its type is detected from its content. */
export function FileValue({ name, base64, format }: FileValueProps) {
  const { locale } = useReader();
  const bytes = useMemo(() => readBase64(base64), [base64]);
  const type = useMemo(() => bytes && detectFileType(bytes), [bytes]);
  if (bytes === undefined || type === undefined)
    return (
      <>
        <Literal value={base64} /> <Tag>not base64</Tag>
      </>
    );
  const declared = format.mediaType;
  return (
    <div className="file">
      <p>
        {format.name !== undefined && <strong>{inertLine(format.name)} </strong>}
        {type.name}, {describeSize(bytes.length, locale)}
        {declared !== undefined && declared !== type.mediaType && (
          <span className="warning"> Declared as {inertLine(declared)}.</span>
        )}
      </p>
      <Hash bytes={bytes} />
      <FileContent name={name} bytes={bytes} type={type} />
    </div>
  );
}

function FileContent({
  name,
  bytes,
  type,
}: {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  type: FileType & { text?: string };
}) {
  if (type.kind === 'image') return <Picture name={name} bytes={bytes} type={type} />;
  if (type.text !== undefined && bytes.length > 0) return <LongText text={type.text} isCode />;
  return bytes.length === 0 ? <Tag>empty file</Tag> : <NotShown name={name} why={type.name} />;
}

/* An SVG runs no scripts and fetches nothing in an `img`. */
function Picture({
  name,
  bytes,
  type,
}: {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  type: FileType;
}) {
  const [url, setUrl] = useState<string>();
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  useHold(state === 'loading');
  const blob = useMemo(() => new Blob([bytes], { type: type.mediaType }), [bytes, type]);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  const check = async (): Promise<void> => setState((await isSound(blob)) ? 'shown' : 'failed');
  if (state === 'failed') return <NotShown name={name} why={`${type.name} that is damaged`} />;
  if (url === undefined) return null;
  return (
    <img src={url} alt={type.name} onLoad={() => void check()} onError={() => setState('failed')} />
  );
}

/* An `img` loads any picture with a sound header, and draws as much of it as it can. A damaged SVG does not load. */
async function isSound(blob: Blob): Promise<boolean> {
  if (blob.type === 'image/svg+xml') return true;
  try {
    const bitmap = await createImageBitmap(blob);
    bitmap.close();
    return true;
  } catch {
    return false;
  }
}

function Hash({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const [hash, setHash] = useState('…');
  useEffect(() => {
    let isCurrent = true;
    const show = async (): Promise<void> => {
      const found = await hashBytes(bytes);
      if (isCurrent) setHash(found);
    };
    void show();
    return () => {
      isCurrent = false;
    };
  }, [bytes]);
  return (
    <p>
      SHA-256 <span className="code">{hash}</span>
    </p>
  );
}

/* Browsers hash on secure origins only. */
async function hashBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!isSecureContext) return 'can’t be computed on a page without HTTPS';
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
