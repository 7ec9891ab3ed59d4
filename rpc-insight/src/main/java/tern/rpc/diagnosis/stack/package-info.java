/** Reads thread stacks: which lock, result, file, library or application code a thread waits for or runs. */
@NullMarked
package tern.rpc.diagnosis.stack;

import org.jspecify.annotations.NullMarked;
