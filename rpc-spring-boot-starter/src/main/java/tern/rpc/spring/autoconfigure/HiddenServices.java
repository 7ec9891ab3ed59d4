package tern.rpc.spring.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import tern.rpc.spring.RpcService;

/**
 * Finds services that are not exported because a {@code @Bean} method hides their class. Only the class of such a
 * service has {@code @RpcService}, but the method's return type is an interface, and the bean does not exist yet.
 * Creates no beans, but reads the class file to find the classes that the method instantiates.
 */
final class HiddenServices {

    private static final Logger LOG = LoggerFactory.getLogger(HiddenServices.class);

    private HiddenServices() {}

    /** Returns the hidden classes. The keys are the names of their beans. */
    static Map<String, Class<?>> in(ConfigurableListableBeanFactory beans) {
        Map<String, Class<?>> hidden = new TreeMap<>();
        for (String name : beans.getBeanDefinitionNames()) {
            if (!beans.containsSingleton(name)) {
                Class<?> type = behind(beans, name);
                if (type != null) {
                    hidden.put(name, type);
                }
            }
        }
        return hidden;
    }

    /** Returns the class of a bean if the class has {@code @RpcService} and Spring does not know the class yet. */
    private static @Nullable Class<?> behind(ConfigurableListableBeanFactory beans, String name) {
        try {
            boolean isKnown = ExportedBeans.annotation(beans, name) != null;
            Method method = LateServices.factoryMethod(beans, name);
            if (isKnown || method == null || !mayHide(method.getReturnType())) {
                return null;
            }
            List<Class<?>> fitting = fitting(method);
            // If the method creates objects of several classes, the result is unclear, because one of the classes might
            // be a decorator of the service.
            return fitting.size() == 1 && AnnotatedElementUtils.hasAnnotation(fitting.get(0), RpcService.class)
                    ? fitting.get(0)
                    : null;
        } catch (RuntimeException | LinkageError e) {
            // The class might refer to a missing library. Spring reports the missing library when the bean is needed.
            LOG.debug("The class of bean '{}' is not known before it is created", name, e);
            return null;
        }
    }

    /** Returns the classes that a {@code @Bean} method instantiates with {@code new} and that it can return. */
    static List<Class<?>> fitting(Method method) {
        List<Class<?>> fitting = new ArrayList<>();
        for (String name : created(method)) {
            Class<?> type = loaded(name, method.getDeclaringClass().getClassLoader());
            if (type != null && method.getReturnType().isAssignableFrom(type)) {
                fitting.add(type);
            }
        }
        return fitting;
    }

    /** Returns whether the type is an interface or an abstract class of the application. */
    static boolean mayHide(Class<?> type) {
        return Modifier.isAbstract(type.getModifiers()) && !type.isPrimitive() && !ServiceInterfaces.isForeign(type);
    }

    private static @Nullable Class<?> loaded(String type, @Nullable ClassLoader loader) {
        try {
            return Class.forName(type, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    /** Returns the names of the classes that a method instantiates with {@code new}. */
    private static Set<String> created(Method method) {
        Set<String> created = new LinkedHashSet<>();
        Class<?> owner = method.getDeclaringClass();
        // The file is missing in a native image, which has no class files.
        try (InputStream file = owner.getResourceAsStream(ClassUtils.getClassFileName(owner))) {
            if (file != null) {
                new ClassReader(file).accept(new Creations(method, created), ClassReader.SKIP_DEBUG);
            }
        } catch (IOException | RuntimeException e) {
            LOG.debug("The class file of {} cannot be read", owner.getName(), e);
        }
        return created;
    }

    private static final class Creations extends ClassVisitor {
        private final Method method;
        private final Set<String> created;

        Creations(Method method, Set<String> created) {
            super(SpringAsmInfo.ASM_VERSION);
            this.method = method;
            this.created = created;
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access,
                String name,
                String descriptor,
                @Nullable String signature,
                String @Nullable [] exceptions) {
            if (!name.equals(method.getName()) || !descriptor.equals(Type.getMethodDescriptor(method))) {
                return null;
            }
            return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {
                @Override
                public void visitTypeInsn(int opcode, String type) {
                    if (opcode == Opcodes.NEW) {
                        created.add(type.replace('/', '.'));
                    }
                }
            };
        }
    }
}
