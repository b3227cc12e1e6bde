/** The model contract: totals of numbers, exact or not, and of values of other types. */
import { ok } from 'node:assert/strict'
import { type ModelTest, testsFor } from './fixture.ts'
import { type Asked, avg, gives, key, max, min, sum, textOf } from './totals.ts'

export const TOTAL_VALUE_TESTS: readonly ModelTest[] = [
	...testsFor(['bigint'], {
		async 'sums of bigints keep all digits, also beyond 64 bits'(fixture) {
			const most = 2n ** 63n - 1n
			await fixture.addAll([
				...[most, most, 9007199254740993n].map((big) => ({ note: 'a', big })),
				...[-most, -most, -7n].map((big) => ({ note: 'b', big })),
				{ note: 'c', big: 9007199254740993n },
			])
			const json = await textOf(fixture, { by: [key('note')], totals: [sum('big'), avg('big'), max('big')] })
			if (json === undefined) return
			const digits = json.replaceAll(/[\s"]/g, '')
			ok(
				digits.includes(
					'{note:a,sum:{big:18455751272964292607},avg:{big:6151917090988097535.666667},max:{big:9223372036854775807}}',
				),
				json,
			)
			ok(
				digits.includes(
					'{note:b,sum:{big:-18446744073709551621},avg:{big:-6148914691236517207.000000},max:{big:-7}}',
				),
				json,
			)
			ok(
				digits.includes(
					'{note:c,sum:{big:9007199254740993},avg:{big:9007199254740993.000000},max:{big:9007199254740993}}',
				),
				json,
			)
			const having = { op: 'gt', total: 0, value: '18455751272964292606' } as const
			await gives(
				fixture,
				{ by: [key('note')], totals: [sum('big')], having: { op: 'not', term: having }, limit: 0 },
				[],
			)
			const found = await textOf(fixture, { by: [key('note')], totals: [sum('big')], having })
			ok(found?.includes('"a"') && !found.includes('"b"') && !found.includes('"c"'), found)
		},
	}),
	...testsFor(['decimal'], {
		async 'sums and averages of decimals are exact'(fixture) {
			await fixture.addAll([
				...['0.1000', '0.2000', '1234567890123456.7891'].map((price) => ({ note: 'a', price })),
				...['-0.0001', '-0.0001', '-0.0001'].map((price) => ({ note: 'b', price })),
				...['0.0001', '0.0000', '0.0000', '-0.0003'].map((price) => ({ note: 'c', price })),
				{ note: 'd' },
			])
			const group = (note: string, all: string | null, mean: string | null) => ({
				...{ note, sum: { price: all }, avg: { price: mean } },
			})
			await gives(fixture, { by: [key('note')], totals: [sum('price'), avg('price')] }, [
				group('a', '1234567890123457.0891', '411522630041152.3630333333'),
				group('b', '-0.0003', '-0.0001000000'),
				group('c', '-0.0002', '-0.0000500000'),
				group('d', null, null),
			])
		},
		async 'min and max of decimals are compared as numbers'(fixture) {
			await fixture.addAll([
				...['9.5000', '10.0000', '-3.0000', '-20.0000'].map((price) => ({ note: 'a', price })),
				...['-2.0000', '-100.0000'].map((price) => ({ note: 'b', price })),
				...['0.0100', '100.0000', '20.0000'].map((price) => ({ note: 'c', price })),
			])
			const group = (note: string, least: string, most: string) => ({
				...{ note, min: { price: least }, max: { price: most } },
			})
			const asked: Asked = { by: [key('note')], totals: [min('price'), max('price')] }
			const [a, b, c] = [
				group('a', '-20.0000', '10.0000'),
				group('b', '-100.0000', '-2.0000'),
				group('c', '0.0100', '100.0000'),
			]
			await gives(fixture, asked, [a, b, c])
			await gives(fixture, { ...asked, order: [{ total: 1, descending: true }] }, [c, a, b])
			await gives(fixture, { ...asked, having: { op: 'gt', total: 0, value: '-99.5' } }, [a, c])
		},
	}),
	...testsFor(['float'], {
		async 'sums and averages of floats are numbers'(fixture) {
			await fixture.addAll([...[0.5, 0.25, -2].map((ratio) => ({ note: 'a', ratio })), { note: 'b' }])
			const asked: Asked = { by: [key('note')], totals: [sum('ratio'), avg('ratio'), max('ratio')] }
			const mean = -1.25 / 3
			await gives(fixture, asked, [
				{ note: 'a', sum: { ratio: -1.25 }, avg: { ratio: mean }, max: { ratio: 0.5 } },
				{ note: 'b', sum: { ratio: null }, avg: { ratio: null }, max: { ratio: null } },
			])
			await gives(fixture, { ...asked, totals: [sum('ratio')], having: { op: 'lt', total: 0, value: -1 } }, [
				{ note: 'a', sum: { ratio: -1.25 } },
			])
		},
	}),
	...testsFor(['float', 'nan', 'infinity'], {
		async 'totals of floats that are not finite are texts'(fixture) {
			await fixture.addAll([
				...[1, Number.NaN].map((ratio) => ({ note: 'a', ratio })),
				...[1, Number.POSITIVE_INFINITY].map((ratio) => ({ note: 'b', ratio })),
				...[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY].map((ratio) => ({ note: 'c', ratio })),
			])
			const totals = [sum('ratio'), avg('ratio'), min('ratio'), max('ratio')]
			const group = (note: string, ...all: unknown[]) => ({
				...{
					note,
					sum: { ratio: all[0] },
					avg: { ratio: all[0] },
					min: { ratio: all[1] },
					max: { ratio: all[2] },
				},
			})
			await gives(fixture, { by: [key('note')], totals }, [
				group('a', 'NaN', 1, 'NaN'),
				group('b', 'Infinity', 1, 'Infinity'),
				group('c', 'NaN', '-Infinity', 'Infinity'),
			])
		},
	}),
	...testsFor(['date', 'time', 'boolean', 'uuid'], {
		async 'totals group by values of other types, and have the least and the greatest'(fixture) {
			const token = '0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b'
			await fixture.addAll([
				{ title: 'a', day: '2026-11-20', clock: '13:45:00', done: true, token },
				{ title: 'b', day: '1999-01-01', clock: '00:00:00', done: true, token },
				{ title: 'c', done: false },
			])
			await gives(fixture, { by: [key('done'), key('token')], totals: [min('day'), max('clock')] }, [
				{ done: false, token: null, min: { day: null }, max: { clock: null } },
				{ done: true, token, min: { day: '1999-01-01' }, max: { clock: '13:45:00' } },
			])
		},
	}),
]
