package shop;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import tern.rpc.ServerContext;
import tern.rpc.spring.RpcService;

/** An application that exports the service {@link Shop}. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(ShopApplication.Sales.class)
public class ShopApplication {

    @RpcService
    public static class Sales implements Shop {

        public final AtomicInteger greeted = new AtomicInteger();
        public final CountDownLatch cancelled = new CountDownLatch(1);
        public final CountDownLatch hanging = new CountDownLatch(1);
        public final CountDownLatch release = new CountDownLatch(1);
        public final CountDownLatch slow = new CountDownLatch(1);

        @Override
        public String greet(String name) {
            greeted.incrementAndGet();
            return "Hello " + name;
        }

        @Override
        public Order place(Order order, int times) {
            order.setNumber(order.getNumber() * times);
            return order;
        }

        @Override
        public List<String> sorted(List<String> names) {
            return names.stream().sorted().toList();
        }

        @Override
        public Page<Item> page(int number) {
            return new Page<>(List.of(new Item("pen", null, Size.SMALL, List.of())), number);
        }

        @Override
        public void forget() {}

        @Override
        public String large(int characters) {
            return String.join("", Collections.nCopies(characters, "x"));
        }

        @Override
        public String hang() {
            hanging.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return "late";
        }

        @Override
        public String sell(String name) throws SoldOutException {
            throw new SoldOutException(name + " is sold out");
        }

        @Override
        public String header(String name) {
            ServerContext context = ServerContext.current();
            context.responseHeaders().put("x-asked", name);
            context.responseMetadata().put("x-done", "yes");
            return context.metadata().get(name) + " over " + context.protocol();
        }

        @Override
        public Flow.Publisher<Integer> count(int to) {
            return new Numbers<>(to, number -> (int) number, cancelled);
        }

        @Override
        public Flow.Publisher<Long> endless() {
            return new Numbers<>(Long.MAX_VALUE, number -> number, cancelled);
        }

        @Override
        public Flow.Publisher<Integer> slowly() {
            return answers -> answers.onSubscribe(new Flow.Subscription() {
                private boolean sent;

                @Override
                public void request(long count) {
                    if (!sent) {
                        sent = true;
                        answers.onNext(1);
                        slow.countDown();
                    }
                }

                @Override
                public void cancel() {
                    cancelled.countDown();
                }
            });
        }

        @Override
        public CompletionStage<Integer> sum(Flow.Publisher<Integer> numbers) {
            CompletableFuture<Integer> sum = new CompletableFuture<>();
            numbers.subscribe(new Flow.Subscriber<>() {
                private int seen;

                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscription.request(Long.MAX_VALUE);
                }

                @Override
                public void onNext(Integer number) {
                    seen += number;
                }

                @Override
                public void onError(Throwable failure) {
                    sum.completeExceptionally(failure);
                }

                @Override
                public void onComplete() {
                    sum.complete(seen);
                }
            });
            return sum;
        }

        @Override
        public Flow.Publisher<String> echo(Flow.Publisher<String> texts) {
            return answers -> texts.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    answers.onSubscribe(subscription);
                }

                @Override
                public void onNext(String text) {
                    answers.onNext(text + text);
                }

                @Override
                public void onError(Throwable failure) {
                    answers.onError(failure);
                }

                @Override
                public void onComplete() {
                    answers.onComplete();
                }
            });
        }

        @Override
        public String overloaded(String text) {
            return "text " + text;
        }

        @Override
        public String overloaded(int number) {
            return "number " + number;
        }

        @Override
        public String similar(Long number) {
            return "one";
        }

        @Override
        public String similar(List<Long> numbers) {
            return "some";
        }
    }

    /** Publishes the values for the numbers from 1 to {@code last}, as the subscriber requests them. */
    private record Numbers<T>(long last, LongFunction<T> value, CountDownLatch cancelled) implements Flow.Publisher<T> {

        @Override
        public void subscribe(Flow.Subscriber<? super T> subscriber) {
            subscriber.onSubscribe(new Flow.Subscription() {
                private long next = 1;
                private boolean done;

                @Override
                public void request(long count) {
                    for (long i = 0; i < count && !done; i++) {
                        if (next > last) {
                            done = true;
                            subscriber.onComplete();
                            return;
                        }
                        subscriber.onNext(value.apply(next++));
                    }
                }

                @Override
                public void cancel() {
                    done = true;
                    cancelled.countDown();
                }
            });
        }
    }
}
