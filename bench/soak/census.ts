/** The memory that a program's objects take, counted in a heap snapshot, without what V8 uses internally. */
import { readFileSync, rmSync } from 'node:fs'

/** The part of a snapshot that is read. `nodes` is flat: each node is a row of numbers. */
interface Snapshot {
	readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: [string[]] } }
	readonly nodes: number[]
}

/** Compiled code and its metadata, such as lists of code that depends on a shape: they keep growing for minutes. */
const OWN_TO_V8: ReadonlySet<string> = new Set(['code', 'hidden', 'synthetic'])

/** Bytes of all objects, including buffers and other memory that they hold. Deletes the file. */
export function census(file: string): number {
	try {
		// Written by V8.
		return sizeOf(JSON.parse(readFileSync(file, 'utf8')) as Snapshot)
	} finally {
		rmSync(file, { force: true })
	}
}

function sizeOf({ snapshot: { meta }, nodes }: Snapshot): number {
	const [width, type, size] = [
		meta.node_fields.length,
		meta.node_fields.indexOf('type'),
		meta.node_fields.indexOf('self_size'),
	]
	const isCounted = meta.node_types[0].map((name) => !OWN_TO_V8.has(name))
	let sum = 0
	for (let at = 0; at < nodes.length; at += width)
		if (isCounted[nodes[at + type] ?? 0] === true) sum += nodes[at + size] ?? 0
	return sum
}
