/**
 * Describes the exported services to callers, as {@code grpc.reflection.v1} and {@code v1alpha} (docs/wire-protocol.md
 * 6.2). Needs {@code com.google.protobuf:protobuf-java}.
 */
@NullMarked
package tern.rpc.reflection;

import org.jspecify.annotations.NullMarked;
