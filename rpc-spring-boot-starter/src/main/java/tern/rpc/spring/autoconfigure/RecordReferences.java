package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Field;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import tern.rpc.spring.RpcReference;

/**
 * Makes Spring inject a record's references only into its constructor. Java copies the annotation of a record component
 * to the field, too, and Spring would fail to set this final field. Runs before Spring looks for annotated fields.
 */
final class RecordReferences implements MergedBeanDefinitionPostProcessor, PriorityOrdered {

    @Override
    public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
        if (!type.isRecord()) {
            return;
        }
        for (Field field : type.getDeclaredFields()) {
            if (AnnotatedElementUtils.isAnnotated(field, RpcReference.class)) {
                definition.registerExternallyManagedConfigMember(field);
            }
        }
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }
}
