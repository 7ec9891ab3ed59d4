package tern.rpc.advice;

import java.util.stream.Stream;

/** One thing that can be wrong with capacity. Depends on its argument alone. */
@FunctionalInterface
interface Rule {

    Stream<Finding> check(Situation situation);
}
