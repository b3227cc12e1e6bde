/**
 * A JSON body to a value. The hot path of every POST: `JSON.parse` without reviver, a few searches of the
 * text, and a walk through the value only where these say that it could matter.
 */
import type { Buffer } from 'node:buffer'
import { RestError } from '../error.ts'
import { type JsonFault, scanJson } from './json-scan.ts'
import { decodeUtf8 } from './utf8.ts'

/** Levels of arrays and objects that a body may nest: `[]` is one. */
export const MAX_DEPTH = 64

/**
 * The value of a JSON text (RFC 8259); a byte order mark is skipped. Of repeated keys the last wins.
 *
 *     decodeJson(Buffer.from('{"title":}'))
 *     400 The body is malformed JSON at line 1, column 10: expected a value
 *
 * Lines and columns count from 1, columns in UTF-16 units as editors do.
 *
 * @throws RestError `bad_request` when it is empty, not UTF-8, malformed, nested deeper than
 * {@link MAX_DEPTH}, or has a key `__proto__`, or a key `prototype` in an object that is a `constructor`
 */
export function decodeJson(bytes: Buffer): unknown {
	let text = decodeUtf8(bytes, 'The body')
	if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
	if (text === '') throw new RestError('bad_request', 'The body is empty, but its Content-Type says JSON')
	const value = parse(text)
	if (!isContainer(value)) return value
	if (mayHoldReserved(text)) walk(value, MAX_DEPTH)
	else if (text.length > MAX_DEPTH) checkDepth(value, text)
	return value
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch (cause) {
		// V8's message quotes what was sent and often has no position: it is not for the client.
		const fault = scanJson(text)
		if (fault === undefined) throw cause
		throw malformed(text, fault)
	}
}

function malformed(text: string, { offset, expected }: JsonFault): RestError {
	const before = text.slice(0, offset).split('\n')
	const column = (before.at(-1) ?? '').length + 1
	const end = offset === text.length ? ', where it ends' : ''
	const place = `line ${before.length}, column ${column}${end}`
	return new RestError('bad_request', `The body is malformed JSON at ${place}: expected ${expected}`)
}

/** `proto` is part of `__proto__` and of `prototype`; after `\u` either may be spelled in escapes. */
function mayHoldReserved(text: string): boolean {
	return text.indexOf('proto') !== -1 || text.indexOf('\\u') !== -1
}

/** How many arrays and objects a text can hold at most; brackets in strings count too. */
function countBrackets(text: string): number {
	let count = 0
	for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) count++
	for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) count++
	return count
}

function isContainer(value: unknown): value is object {
	return typeof value === 'object' && value !== null
}

/**
 * Refuses what is nested too deeply, level by level, until every bracket of the text is accounted for: of
 * a list of flat records no record has to be opened.
 */
function checkDepth(value: object, text: string): void {
	let left = countBrackets(text)
	if (left <= MAX_DEPTH) return
	left--
	let level: object[] = [value]
	for (let depth = 1; level.length > 0; depth++) {
		if (depth > MAX_DEPTH) throw tooDeep()
		if (left <= 0) return
		const next: object[] = []
		for (const container of level) {
			const inner: readonly unknown[] = Array.isArray(container) ? container : Object.values(container)
			for (const item of inner) if (isContainer(item)) next.push(item)
		}
		left -= next.length
		level = next
	}
}

/**
 * Refuses what would hurt later. Depth: `JSON.stringify` throws at some thousands of levels, so a stored
 * document would become a 500. `__proto__`: `Object.assign({}, body)` would set a prototype with it; and
 * a deep merge would reach `Object.prototype` through `constructor.prototype`.
 */
function walk(container: object, levels: number): void {
	if (levels === 0) throw tooDeep()
	if (Array.isArray(container)) {
		for (const item of container as unknown[]) if (isContainer(item)) walk(item, levels - 1)
		return
	}
	walkObject(container as Record<string, unknown>, levels)
}

function walkObject(record: Record<string, unknown>, levels: number): void {
	// for-in is several times as fast as Object.keys here. It shows inherited keys too, where a program
	// has added such to Object.prototype: hence `hasOwn`, which is asked for containers only.
	for (const key in record) {
		if (key === '__proto__') throw reserved('__proto__')
		const value = record[key]
		if (!isContainer(value) || !Object.hasOwn(record, key)) continue
		if (key === 'constructor' && Object.hasOwn(value, 'prototype')) throw reserved('constructor.prototype')
		walk(value, levels - 1)
	}
}

function tooDeep(): RestError {
	return new RestError('bad_request', `The body is nested too deeply: at most ${MAX_DEPTH} levels of JSON`)
}

function reserved(name: string): RestError {
	return new RestError('bad_request', `The body has a key ${name}, which is reserved: leave it out`)
}
