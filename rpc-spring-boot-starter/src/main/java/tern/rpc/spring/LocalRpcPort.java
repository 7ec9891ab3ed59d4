package tern.rpc.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Value;

/**
 * Injects the port of the RPC server into tests that set {@code rpc.server.port=0}. The port is known only after the
 * application has started. This annotation therefore works only at injection points that are resolved after the start,
 * such as fields of a test class.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.ANNOTATION_TYPE})
@Value("${local.rpc.port}")
public @interface LocalRpcPort {}
