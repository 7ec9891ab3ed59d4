/** Advice on capacity: collects what it looks at, says it at the start and whenever it is asked. */
@NullMarked
package tern.rpc.spring.autoconfigure.advice;

import org.jspecify.annotations.NullMarked;
