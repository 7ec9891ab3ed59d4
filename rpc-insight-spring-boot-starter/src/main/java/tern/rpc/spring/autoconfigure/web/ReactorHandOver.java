package tern.rpc.spring.autoconfigure.web;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import reactor.core.scheduler.Schedulers;
import tern.rpc.CallTask;

/** Passes a call's ledger to the tasks that the call's thread submits to a Reactor scheduler. */
final class ReactorHandOver implements InitializingBean, DisposableBean {

    private static final String KEY = "rpc-insight";
    private static final String NAME = "reactor";

    @Override
    public void afterPropertiesSet() {
        Schedulers.onScheduleHook(KEY, task -> CallTask.ofScheduled(task, NAME));
    }

    @Override
    public void destroy() {
        Schedulers.resetOnScheduleHook(KEY);
    }
}
