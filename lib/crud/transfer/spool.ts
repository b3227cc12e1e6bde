/**
 * `Spool`: keeps the checked records of an import until all have arrived, so that a slow client doesn't hold a transaction open.
 * Some megabytes stay in memory; the rest is in a temporary file, which is unlinked as soon as it is open, so that even a killed
 * process leaves nothing behind (except on Windows, where it is deleted at the end). Called by `import.ts`.
 */
import type { FileHandle } from 'node:fs/promises'
import type { Bytes } from '../../base/time.ts'
import { RawJson } from '../../wire/raw-json.ts'
import type { WrittenValues } from '../write.ts'

/** A checked record, and the line that it was read from. */
export type Spooled = readonly [line: number, values: WrittenValues]

const MAX_IN_MEMORY: Bytes = 4_194_304
const BATCH: Bytes = 262_144

export class Spool {
	readonly #maxRecords: number
	#pending: Spooled[] = []
	#pendingBytes: Bytes = 0
	/** The first batches, as bytes. */
	readonly #memory: Buffer[] = []
	#memoryBytes: Bytes = 0
	/** The lengths of the other batches, which are in the file, one after the other. */
	readonly #lengths: Bytes[] = []
	#file: FileHandle | undefined
	/** The file's name, if it still has one. */
	#name: string | undefined

	/** @param maxRecords maximum number of records in a batch */
	constructor(maxRecords: number) {
		this.#maxRecords = maxRecords
	}

	/** @param bytes their approximate size */
	async add(records: readonly Spooled[], bytes: Bytes): Promise<void> {
		for (const record of records) {
			this.#pending.push(record)
			if (this.#pending.length >= this.#maxRecords) await this.#store()
		}
		this.#pendingBytes += bytes
		// While a long record arrives, nothing is pending.
		if (this.#pendingBytes >= BATCH && this.#pending.length > 0) await this.#store()
	}

	/** All records, in their order. */
	async *batches(): AsyncGenerator<readonly Spooled[], void> {
		await this.#store()
		for (const bytes of this.#memory) yield await unpacked(bytes)
		let at = 0
		for (const length of this.#lengths) {
			const bytes = Buffer.alloc(length)
			for (let read = 0; read < length; ) {
				const { bytesRead = 0 } = (await this.#file?.read(bytes, read, length - read, at + read)) ?? {}
				if (bytesRead === 0) throw new Error('the temporary file of an import has been cut off')
				read += bytesRead
			}
			at += length
			yield await unpacked(bytes)
		}
	}

	async close(): Promise<void> {
		await this.#file?.close()
		if (this.#name === undefined) return
		const { rm } = await import('node:fs/promises')
		await rm(this.#name, { force: true })
	}

	async #store(): Promise<void> {
		const records = this.#pending
		this.#pending = []
		this.#pendingBytes = 0
		if (records.length === 0) return
		const { serialize } = await import('node:v8')
		const bytes = serialize(records.map(([line, values]) => [line, packed(values)]))
		if (this.#file === undefined && this.#memoryBytes + bytes.length <= MAX_IN_MEMORY) {
			this.#memory.push(bytes)
			this.#memoryBytes += bytes.length
			return
		}
		this.#file ??= await this.#open()
		await this.#file.appendFile(bytes)
		this.#lengths.push(bytes.length)
	}

	async #open(): Promise<FileHandle> {
		const [{ open, rm }, { tmpdir }, { join }] = await Promise.all([
			import('node:fs/promises'),
			import('node:os'),
			import('node:path'),
		])
		this.#name = join(tmpdir(), `verbena-import-${crypto.randomUUID()}`)
		// Readable by this user only. With `x`, opening fails on a file or link that somebody else has put there.
		const file = await open(this.#name, 'ax+', 0o600)
		this.#file = file
		await rm(this.#name).then(
			() => {
				this.#name = undefined
			},
			// Windows doesn't delete open files.
			() => {},
		)
		return file
	}
}

/** Wraps JSON in a plain object, because `v8.serialize` doesn't keep classes; no other value is one. */
function packed(values: WrittenValues): object {
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => [
			name,
			value instanceof RawJson ? { json: value.text } : value,
		]),
	)
}

async function unpacked(bytes: Buffer): Promise<readonly Spooled[]> {
	const { deserialize } = await import('node:v8')
	const records = deserialize(bytes) as (readonly [line: number, values: object])[] // of `packed`
	return records.map(([line, values]) => [
		line,
		Object.fromEntries(Object.entries(values).map(([name, value]) => [name, unboxed(value)])),
	])
}

function unboxed(value: WrittenValues[string] | { readonly json: string }): WrittenValues[string] {
	const isJson = typeof value === 'object' && value !== null && 'json' in value
	return isJson ? new RawJson(value.json) : value
}
