import * as assert from 'uvu/assert'
import { CODINGS, type Coding } from '../../lib/reply/compression/codings.ts'
import {
	conditionsOf,
	etagOf,
	isStronglyMatched,
	isWeaklyMatched,
	removeSuffixes,
	suffixedTag,
	tagOf304,
} from '../../lib/reply/etag.ts'
import { describe } from '../helpers/describe.ts'

describe('reply/etag: comparison', (test) => {
	const table: [header: string, strong: boolean, weak: boolean][] = [
		['"5"', true, true],
		['W/"5"', false, true],
		['"4", "5"', true, true],
		['"4" , , W/"5",', false, true],
		['*', true, true],
		['"4"', false, false],
		['"55"', false, false],
		['5', false, false],
		['"5" "4"', false, false],
		['', false, false],
	]
	for (const [header, strong, weak] of table) {
		test(`${header || 'an empty header'} matches version 5: strongly ${strong}, weakly ${weak}`, () => {
			const { match, noneMatch } = conditionsOf({ 'if-match': header, 'if-none-match': header }) ?? {}
			assert.ok(match !== undefined && noneMatch !== undefined)
			assert.is(isStronglyMatched(match, '5'), strong)
			assert.is(isWeaklyMatched(noneMatch, '5'), weak)
		})
	}

	test('only * matches what has no version', () => {
		assert.is(isStronglyMatched('*', undefined), true)
		assert.is(isStronglyMatched(['""', '"undefined"'], undefined), false)
		assert.is(isWeaklyMatched(['""', '"undefined"'], undefined), false)
	})

	test('a version’s tag is matched by itself', () => {
		assert.is(etagOf('5'), '"5"')
		assert.is(isStronglyMatched([etagOf('5')], '5'), true)
	})

	test('If-Match loses the suffix of a compressed form, If-None-Match keeps it', () => {
		const { match, noneMatch } = conditionsOf({ 'if-match': '"5;br"', 'if-none-match': '"5;br"' }) ?? {}
		assert.equal([match, noneMatch], [['"5"'], ['"5;br"']])
	})

	test('without either header there are no conditions', () => assert.is(conditionsOf({}), undefined))
})

function coding(name: 'br' | 'gzip'): Coding {
	const found = CODINGS.get(name)
	assert.ok(found)
	return found
}

describe('reply/etag: of compressed forms', (test) => {
	test('a strong ETag differs for each coding, a weak one is shared', () => {
		assert.is(suffixedTag('"5"', coding('br')), '"5;br"')
		assert.is(suffixedTag('""', coding('gzip')), '";gzip"')
		assert.is(suffixedTag('W/"5"', coding('br')), 'W/"5"')
		assert.is(suffixedTag('5', coding('br')), '5')
	})

	const sent: [name: 'if-match' | 'if-none-match', value: string, seen: string][] = [
		['if-match', '"5;br"', '"5"'],
		['if-match', '"5"', '"5"'],
		['if-match', '"5;br", "6;gzip", "7;zstd"', '"5", "6", "7"'],
		['if-match', '*', '*'],
		['if-match', 'W/"5;br"', 'W/"5"'],
		['if-none-match', '"a-br","b;deflate"', '"a-br","b;deflate"'],
		['if-none-match', '";br"', '""'],
		['if-none-match', '"5;br', '"5;br'],
	]
	for (const [name, value, seen] of sent) {
		test(`${name}: ${value} is read as ${seen}`, () => {
			const headers = { [name]: value }
			removeSuffixes(headers)
			assert.equal(headers, { [name]: seen })
		})
	}

	test('If-Range keeps the coding: a range of other bytes would not fit', () => {
		const headers = { 'if-range': '"5;br"' }
		removeSuffixes(headers)
		assert.equal(headers, { 'if-range': '"5;br"' })
	})

	const named: [sent: string, chosen: 'br' | 'gzip' | undefined, tag: string][] = [
		['"5"', undefined, '"5"'],
		['"5"', 'br', '"5"'],
		['"5;br"', 'br', '"5;br"'],
		['"5;br"', 'gzip', '"5;br"'],
		['"5;br", "5;gzip"', 'gzip', '"5;gzip"'],
		['"5", "5;br"', undefined, '"5"'],
		['"5", "5;br"', 'br', '"5;br"'],
		['*', 'br', '"5"'],
		['"5;zstd"', 'br', '"5;zstd"'],
		['"15;br"', 'br', '"5"'],
	]
	for (const [sent, chosen, tag] of named) {
		test(`a 304 for ${sent}, where ${chosen ?? 'none'} is accepted, has ${tag}`, () => {
			assert.is(tagOf304('"5"', sent, chosen === undefined ? undefined : coding(chosen)), tag)
		})
	}
})
