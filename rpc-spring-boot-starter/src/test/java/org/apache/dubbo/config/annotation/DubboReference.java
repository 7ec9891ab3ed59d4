package org.apache.dubbo.config.annotation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Replaces Dubbo's annotation, because Dubbo is not on the class path of these tests. */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
public @interface DubboReference {}
