/** DECAY, with its traps: linear by default, a `type` in another case runs as linear, offsets cut to whole numbers. */
import type { Option, Options } from './ast.ts';
import { type Compiled, type Scope, scalar, wrongType } from './compiled.ts';
import {
  isNumeric,
  isString,
  type Place,
  type Point,
  type Scalar,
  type Type,
  unknownToStandIn,
  verificationError,
} from './values.ts';

const KNOWN = ['type', 'decay', 'offset'];
const SHAPES = ['gauss', 'linear', 'exp'];
const VALUES: Type[] = ['integer', 'long', 'double', 'datetime', 'date_nanos', 'geo_point', 'cartesian_point'];
const METRES: Record<string, number> = { mm: 0.001, cm: 0.01, m: 1, km: 1000, yd: 0.9144, ft: 0.3048, mi: 1609.344 };
const EARTH = 6_371_008.7714;

export function decay(at: Place, args: Compiled[], scope: Scope, options: Options): Compiled {
  if (args.length !== 3)
    throw verificationError(at, `error building [${at.text}]: expects three arguments, found ${args.length}`);
  const [value, origin, scale] = args as [Compiled, Compiled, Compiled];
  if (value.type === 'null')
    throw verificationError(at, `first argument of [${at.text}] cannot be null, received [${value.text}]`);
  if (!VALUES.includes(value.type)) throw wrongType(at, 0, value, 'numeric, date or spatial point');
  const place = checkPlace(at, value, origin, scale);
  const chosen = checkOptions(at, options, value.type);
  for (const [name, arg] of [
    ['origin', origin],
    ['scale', scale],
  ] as const)
    if (!arg.constant) throw verificationError(arg, `Function [${at.text}] has non-literal value [${name}].`);

  const from = place(origin.run({}) as Scalar);
  const by = amount(at, scale.run({}) as Scalar, value.type);
  const offset = chosen.offset === null ? 0 : amount(at, chosen.offset, value.type, true);
  const shape = weight(chosen.type, by, chosen.decay);
  return scalar(at, 'double', [value], scope, (given) => {
    const distance = apart(value.type, place(given), from);
    return shape(Math.max(0, distance - offset));
  });
}

const weight = (type: string, scale: number, decay: number): ((distance: number) => number) => {
  if (type === 'exp') {
    const rate = Math.log(decay) / scale;
    return (distance) => Math.exp(rate * distance);
  }
  if (type === 'gauss') {
    const spread = (0.5 * scale ** 2) / Math.log(decay);
    return (distance) => Math.exp((0.5 * distance ** 2) / spread);
  }
  const reach = scale / (1 - decay);
  return (distance) => Math.max(0, (reach - distance) / reach);
};

/** Checks that value, origin and scale belong together; answers how to read the first two. */
function checkPlace(at: Place, value: Compiled, origin: Compiled, scale: Compiled): (given: Scalar) => Scalar {
  const { type } = value;
  if (isNumeric(type)) {
    if (!isNumeric(origin.type)) throw wrongType(at, 1, origin, 'numeric');
    if (!isNumeric(scale.type)) throw wrongType(at, 2, scale, 'numeric');
    if (type !== 'double')
      for (const arg of [origin, scale])
        if (arg.constant && !Number.isInteger(arg.run({})))
          throw unknownToStandIn(at, `a fractional origin or scale beside whole values (how [${arg.text}] is rounded)`);
    return (given) => given;
  }
  if (type === 'datetime' || type === 'date_nanos') {
    if (scale.type !== 'time_duration') throw wrongType(at, 2, scale, 'time_duration');
    if (origin.type !== type)
      throw unknownToStandIn(at, `an origin of type [${origin.type}] beside values of type [${type}]`);
    return (given) => given;
  }
  if (origin.type !== type) throw wrongType(at, 1, origin, type);
  if (type === 'geo_point' ? !isString(scale.type) : !isNumeric(scale.type))
    throw wrongType(at, 2, scale, type === 'geo_point' ? 'keyword or text' : 'numeric');
  return (given) => given;
}

interface Chosen {
  type: string;
  decay: number;
  offset: Scalar | null;
}

function checkOptions(at: Place, options: Options, type: Type): Chosen {
  for (const key of options.keys())
    if (!KNOWN.includes(key))
      throw verificationError(at, `Invalid option [${key}] in [${at.text}], expected one of [${KNOWN.join(', ')}]`);
  const decay = options.get('decay');
  if (decay && decay.type !== 'double')
    throw verificationError(at, `Invalid option [decay] in [${at.text}], allowed types [[DOUBLE]]`);
  const offset = options.get('offset');
  const wanted: Type =
    isNumeric(type) || type === 'cartesian_point' ? 'double' : type === 'geo_point' ? 'keyword' : 'time_duration';
  // For dates the texts of the csv-spec fixtures are duration literals: 0 seconds, not "0 seconds".
  const fits = (option: Option) => (wanted === 'double' ? isNumeric(option.type as Type) : option.type === wanted);
  if (offset && !fits(offset)) {
    const name = wanted === 'double' ? 'numeric' : wanted;
    throw verificationError(at, `offset option has invalid type, expected [${name}], found [${offset.type}]`);
  }
  const shape = options.get('type');
  if (shape && !(shape.type === 'keyword' && SHAPES.includes(String(shape.value).toLowerCase())))
    throw verificationError(
      at,
      `type option has invalid value, expected one of [${SHAPES.join(', ')}], found [${shape.text}]`,
    );
  return {
    type: String(shape?.value ?? 'linear'),
    decay: decay ? (decay.value as number) : 0.5,
    offset: offset ? (offset.value as Scalar) : null,
  };
}

/** A scale or an offset as a number in the unit of the distance. */
function amount(at: Place, given: Scalar, type: Type, cut = false): number {
  if (type === 'date_nanos') return (given as number) * 1e6;
  if (type !== 'geo_point')
    return cut && (type === 'integer' || type === 'long') ? Math.trunc(given as number) : (given as number);
  const found = /^(-?[\d.]+)\s*([a-zA-Z]*)$/.exec(String(given).trim());
  const metres = METRES[found?.[2] || 'm'];
  if (!found || metres === undefined) throw unknownToStandIn(at, `the distance [${String(given)}]`);
  return Number(found[1]) * metres;
}

function apart(type: Type, a: Scalar, b: Scalar): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return Number(a > b ? a - b : b - a);
  if (type === 'cartesian_point')
    return Math.sqrt(((a as Point).x - (b as Point).x) ** 2 + ((a as Point).y - (b as Point).y) ** 2);
  if (type === 'geo_point') return haversine(a as Point, b as Point);
  return Math.abs((a as number) - (b as number));
}

function haversine(a: Point, b: Point): number {
  const radians = Math.PI / 180;
  const half = (degrees: number) => Math.sin((degrees * radians) / 2) ** 2;
  const cosines = Math.cos(a.y * radians) * Math.cos(b.y * radians);
  return 2 * EARTH * Math.asin(Math.min(1, Math.sqrt(half(a.y - b.y) + cosines * half(a.x - b.x))));
}
