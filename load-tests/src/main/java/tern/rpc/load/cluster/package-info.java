/**
 * Tests how clients cope when one of several providers is faulty. The providers are sample providers in separate
 * processes or, in the comparison with other frameworks, ten simulated nodes in this process.
 */
@NullMarked
package tern.rpc.load.cluster;

import org.jspecify.annotations.NullMarked;
