/** Protobuf messages as bytes and in their JSON form. Safe to use when protobuf is not on the class path. */
@NullMarked
package tern.rpc.serialization.protobuf;

import org.jspecify.annotations.NullMarked;
