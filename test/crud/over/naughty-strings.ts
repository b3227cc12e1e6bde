/** Naughty strings: texts that break code which didn't expect them. */
import { readFileSync } from 'node:fs'
import { ROOT } from '../../helpers/program.ts'
import { seedOf } from '../../helpers/seed.ts'
import { trials } from '../../helpers/trials.ts'

const LISTED = JSON.parse(readFileSync(`${ROOT}/test/acceptance/naughty-strings.json`, 'utf8')) as string[]
const OWN = [
	...[
		"'",
		"''",
		"\\'",
		'"',
		'""',
		'`',
		'``',
		'$$',
		'$1',
		'?',
		':a',
		'@a',
		';',
		'--',
		'#',
		'/*',
		'*/',
		'\\',
		'\\\\',
	],
	...[
		"' or '1'='1",
		"'; drop table things; --",
		'" or 1=1 --',
		'` or 1=1 #',
		'1; select pg_sleep(9)',
		'1 or 1=1',
	],
	...[
		"' union select secret from things --",
		"\\' or 1=1 -- ",
		"x' || (select version()) || 'x",
		'$a$;drop$a$',
	],
	...[
		'%',
		'_',
		'%%',
		'\\%',
		'\\_',
		'[a-z]',
		'*',
		'^',
		'!',
		'|',
		'{{',
		'}}',
		'[',
		']',
		'[eq]',
		'title[eq]',
		'a,b',
		',',
	],
	...[
		'\0',
		'a\0b',
		'\ud800',
		'a\udfff',
		'\u2028',
		'\u2029',
		'😀',
		'\u{10ffff}',
		'\ufeff',
		'\ufffe',
		'\u202e',
		'e\u0301',
	],
	...[
		'__proto__',
		'constructor',
		'prototype',
		'toString',
		'id',
		'secret',
		'TRUE',
		'null',
		'undefined',
		'NaN',
		'-0',
	],
	...[
		'9223372036854775807',
		'9223372036854775808',
		'-9223372036854775809',
		'1e999',
		'0x1',
		'٣',
		'１',
		' 1',
		'1 ',
	],
	// The longest text accepted by text searches, and one character more.
	...['c'.repeat(1_000), 'd'.repeat(1_001)],
	...['..', '.', '%00', '%2e%2e', '\r\nX-A: b', '\x7f', '\x1b[0m', 'a'.repeat(5_000), ' ', '\t', 'trailing '],
]
/** Those of the public list, and more that are special to databases, URLs and JSON. */
export const STRINGS = [...new Set([...LISTED, ...OWN])]

/** All of our own, and a third of the others by the seed; all of them with `VERBENA_TRIALS=3`. */
export function sampled(name: string): string[] {
	const parts = Math.ceil(3 / trials(1))
	const part = seedOf(name) % parts
	return STRINGS.filter((text, at) => at % parts === part || OWN.includes(text))
}
