/** The part of jstat that is used; the package has no types of its own. */
declare module 'jstat' {
  const jstat: {
    gamma: {
      /** The quantile of Gamma(shape, scale). */
      inv(probability: number, shape: number, scale: number): number;
    };
    chisquare: {
      cdf(x: number, degreesOfFreedom: number): number;
    };
  };
  export default jstat;
}
