/** Formats: tables of accepted and refused texts, and the time on hostile text. */
import * as assert from 'uvu/assert'
import { hasFormat } from '../../lib/validate/format.ts'
import type { Format } from '../../lib/validate/validator.ts'
import { cost } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'

const LONG = 50_000

const TABLE: Readonly<Record<Format, { good: readonly string[]; bad: readonly string[] }>> = {
	email: {
		good: [
			'a@b.c',
			'frank@example.org',
			"o'neill+tag@sub.example.co.uk",
			'user@localhost',
			'x@1.com',
			`${'a'.repeat(64)}@example.org`,
			`a@${'b'.repeat(63)}.c`,
			`${'a'.repeat(60)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.e`.slice(0, 254),
		],
		bad: [
			'',
			'@',
			'a@',
			'@b',
			'a b@c.d',
			'a@b c',
			'a@b..c',
			'a@-b.c',
			'a@b-.c',
			'a@.b',
			'a@b.',
			'a@b@c',
			'a@b.c\n',
			'\na@b.c',
			'a@b.c\0',
			'"a b"@c.d',
			'ü@example.org',
			'a@exämple.org',
			'a@[127.0.0.1]',
			`${'a'.repeat(65)}@example.org`,
			`a@${'b'.repeat(64)}.c`,
			`a@${'b.'.repeat(126)}c`,
		],
	},
	url: {
		good: [
			'http://a',
			'https://example.org',
			'HTTPS://Example.ORG/',
			'https://example.org:8443/a/b?c=d&e#f',
			'https://user:pass@example.org/',
			'https://[::1]:3000/x',
			'http://127.0.0.1/',
			'https://exämple.org/ü?ü',
			'https://example.org?x=//',
			`https://example.org/${'a'.repeat(LONG)}`,
		],
		bad: [
			'',
			'http',
			'http:',
			'http://',
			'http:///example.org',
			'http:example.org',
			'http:/example.org',
			'http://?q',
			'http://#f',
			'//example.org',
			'/a/b',
			'example.org',
			'ftp://example.org',
			'javascript:alert(1)',
			'data:text/plain,x',
			' https://example.org',
			'https://example.org ',
			'https://exa\nmple.org',
			'https://exa\tmple.org',
			'https://example.org/a b',
			'https://example.org/\0',
			'https://example.org/\x7f',
			'https:\\\\example.org',
			'https://example.org\\@evil.example',
			'https://example.org:99999/',
			'https://[::1/',
			'https://256.256.256.256/',
			'https://a b/',
			`https://${'a'.repeat(1_100)}/`,
		],
	},
	uuid: {
		good: [
			'00000000-0000-0000-0000-000000000000',
			'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
			'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
			'018f3F5e-5f4e-7c1a-8b8e-0123456789ab',
		],
		bad: [
			'',
			'f81d4fae7dec11d0a76500a0c91e6bf6',
			'{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}',
			'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
			'f81d4fae-7dec-11d0-a765-00a0c91e6bfg',
			'f81d4fae-7dec-11d0-a765-00a0c91e6bf',
			'f81d4fae-7dec-11d0-a765-00a0c91e6bf6 ',
			'f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n',
			'f81d4fae-7dec-11d0a-765-00a0c91e6bf6',
		],
	},
	date: {
		good: ['2026-11-20', '2024-02-29', '2000-02-29', '0000-02-29', '0001-01-01', '9999-12-31', '2026-04-30'],
		bad: [
			'',
			'2026-02-30',
			'2026-02-29',
			'1900-02-29',
			'2100-02-29',
			'2026-04-31',
			'2026-06-31',
			'2026-09-31',
			'2026-11-31',
			'2026-01-32',
			'2026-00-10',
			'2026-13-10',
			'2026-10-00',
			'2026-1-1',
			'26-01-01',
			'20260101',
			'2026/01/01',
			'2026-01-01T00:00:00Z',
			'2026-01-01\n',
			'+02026-01-01',
			'-2026-01-01',
			'٢٠٢٦-01-01',
		],
	},
	datetime: {
		good: [
			'2026-11-20T10:00:00Z',
			'2026-11-20t10:00:00z',
			'2026-11-20T10:00:00.5+01:00',
			'2026-11-20T10:00:00.123456789-23:59',
			'2026-11-20T23:59:59-00:00',
			'2024-02-29T00:00:00Z',
			'2016-12-31T23:59:60Z',
			'2016-12-31T15:59:60.75-08:00',
			'2017-01-01T05:29:60+05:30',
			'2015-06-30T23:59:60Z',
			`2026-11-20T10:00:00.${'1'.repeat(1_000)}Z`,
		],
		bad: [
			'',
			'2026-11-20',
			'2026-11-20T10:00:00',
			'2026-11-20 10:00:00Z',
			'2026-11-20T10:00Z',
			'2026-11-20T24:00:00Z',
			'2026-11-20T10:60:00Z',
			'2026-11-20T10:00:61Z',
			'2026-11-20T10:00:00.Z',
			'2026-11-20T10:00:00,5Z',
			'2026-11-20T10:00:00+24:00',
			'2026-11-20T10:00:00+01:60',
			'2026-11-20T10:00:00+0100',
			'2026-11-20T10:00:00+01',
			'2026-02-30T10:00:00Z',
			'2026-00-10T10:00:00Z',
			'2026-11-20T10:00:00Z\n',
			' 2026-11-20T10:00:00Z',
			// Second 60 where no leap second can be: not the last minute of a month in UTC, or before 1972.
			'2016-12-31T23:58:60Z',
			'2016-12-31T22:59:60Z',
			'2016-12-30T23:59:60Z',
			'2016-12-31T23:59:60-08:00',
			'1971-12-31T23:59:60Z',
			'0050-12-31T23:59:60Z',
		],
	},
}

/** Each fits the beginning of some format and goes on long enough for a slow check to show. */
const HOSTILE: readonly string[] = [
	'a',
	'@',
	'.',
	'-',
	'0',
	' ',
	'\0',
	'ü',
	'👍',
	'\ud800',
	'a.',
	'a@',
	'a-',
	'%',
	'%41',
	'xn--',
	'[',
	':',
	'/',
	'\\',
	'١',
].flatMap((piece) => {
	const run = piece.repeat(Math.floor(LONG / piece.length))
	const starts = ['', 'a@', 'a@b.', 'http://', 'https://a/', 'https://a?', 'https://[', 'https://xn--']
	const moments = ['2026-11-20', '2026-11-20T10:00:00', '2026-11-20T10:00:00.', 'f81d4fae-']
	return [...starts, ...moments].flatMap((start) => [start + run, `${start}${run}!`, `${start}${run}Z`])
})

describe('format', (test) => {
	for (const [format, { good, bad }] of Object.entries(TABLE) as [Format, (typeof TABLE)[Format]][]) {
		for (const text of good) {
			test(`${format} accepts ${JSON.stringify(text.slice(0, 60))}`, () =>
				assert.is(hasFormat(format, text), true))
		}
		for (const text of bad) {
			test(`${format} refuses ${JSON.stringify(text.slice(0, 60))}`, () => {
				assert.is(hasFormat(format, text), false)
			})
		}
		test(`${format} takes linear time for any 50 kB`, () => {
			for (const text of HOSTILE) {
				const time = cost(() => hasFormat(format, text))
				// A millisecond or two; seconds where it goes by the square.
				assert.ok(time < 250, `${time} ms on ${JSON.stringify(text.slice(0, 40))}`)
			}
		})
	}
})
